// rtt COUNT DEST PATH INTERFACE METHOD [ARGUMENT…]: COUNT blocking calls, one after the other, after a warm-up.
// Prints the microseconds of each, and last `reply N`, the bytes of a reply.
#include "floor.h"

int main(int count, char **words) {
  if (count < 6) fail("usage", "rtt COUNT DEST PATH INTERFACE METHOD [ARGUMENT...]");
  int rounds = atoi(words[1]), warm = rounds < 50 ? rounds : 50, size = 0;
  DBusConnection *bus = session_bus();
  for (int i = -warm; i < rounds; i++) {
    double start = microseconds();
    DBusMessage *reply = call(bus, new_call(count - 2, words + 2));
    double taken = microseconds() - start;
    if (i >= 0) printf("%.2f\n", taken);
    if (i == rounds - 1) {
      char *bytes;
      if (dbus_message_marshal(reply, &bytes, &size)) dbus_free(bytes);
    }
    dbus_message_unref(reply);
  }
  printf("reply %d\n", size);
  return 0;
}
