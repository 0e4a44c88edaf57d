// oneshot: connects, calls Echo of org.example.Echo once, leaves. The least a handler of links can be.
#include "floor.h"

int main(void) {
  char *words[] = {"org.example.Echo", "/", "org.example.Echo", "Echo", "s=hi"};
  dbus_message_unref(call(session_bus(), new_call(5, words)));
  return 0;
}
