// echo [NAME]: the least a service can be. Echo(s) → s; Give(u) → s of that length; Emit() emits Happened(s) first.
#include "floor.h"

static DBusHandlerResult handle(DBusConnection *bus, DBusMessage *message, void *unused) {
  (void)unused;
  if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_CALL) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  static char filling[65536];
  const char *text = "";
  dbus_uint32_t length = 0;
  if (dbus_message_has_member(message, "Give")) {
    dbus_message_get_args(message, NULL, DBUS_TYPE_UINT32, &length, DBUS_TYPE_INVALID);
    if (length >= sizeof filling) length = sizeof filling - 1;
    memset(filling, 'x', length);
    filling[length] = 0;
    text = filling;
  } else if (dbus_message_has_member(message, "Echo")) {
    dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
  } else if (dbus_message_has_member(message, "Emit")) {
    DBusMessage *signal = dbus_message_new_signal("/", "org.example.Echo", "Happened");
    const char *payload = "com.example.linkd, demo, and a number";
    dbus_message_append_args(signal, DBUS_TYPE_STRING, &payload, DBUS_TYPE_INVALID);
    dbus_connection_send(bus, signal, NULL);
    dbus_message_unref(signal);
  }
  DBusMessage *reply = dbus_message_new_method_return(message);
  dbus_message_append_args(reply, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
  dbus_connection_send(bus, reply, NULL);
  dbus_message_unref(reply);
  return DBUS_HANDLER_RESULT_HANDLED;
}

int main(int count, char **words) {
  DBusError error = DBUS_ERROR_INIT;
  DBusConnection *bus = dbus_bus_get(DBUS_BUS_SESSION, &error);
  if (!bus) fail("session bus", error.message);
  dbus_connection_add_filter(bus, handle, NULL, NULL);
  const char *name = count > 1 ? words[1] : "org.example.Echo";
  if (dbus_bus_request_name(bus, name, DBUS_NAME_FLAG_DO_NOT_QUEUE, &error) != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)
    fail(name, "the name is taken");
  while (dbus_connection_read_write_dispatch(bus, -1)) continue;
  return 0;
}
