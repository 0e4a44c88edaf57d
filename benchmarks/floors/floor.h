// What the floors share: a clock, a bus, and arguments written on the command line.
#ifndef FLOOR_H
#define FLOOR_H
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double microseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static inline void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static inline DBusConnection *session_bus(void) {
  DBusError error = DBUS_ERROR_INIT;
  DBusConnection *bus = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
  if (!bus) fail("session bus", error.message);
  return bus;
}

/// Appends an argument: `s=TEXT`, `u=NUMBER`, `o` for an empty `a{sv}`, or `o=NAME` for one with a true NAME.
static inline void append(DBusMessage *message, const char *word) {
  DBusMessageIter all, options;
  dbus_message_iter_init_append(message, &all);
  if (word[0] == 's') {
    const char *text = word + 2;
    dbus_message_iter_append_basic(&all, DBUS_TYPE_STRING, &text);
  } else if (word[0] == 'u') {
    dbus_uint32_t number = (dbus_uint32_t)strtoul(word + 2, NULL, 10);
    dbus_message_iter_append_basic(&all, DBUS_TYPE_UINT32, &number);
  } else {
    dbus_message_iter_open_container(&all, DBUS_TYPE_ARRAY, "{sv}", &options);
    if (word[1]) {
      const char *name = word + 2;
      dbus_bool_t yes = TRUE;
      DBusMessageIter entry, value;
      dbus_message_iter_open_container(&options, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
      dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
      dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "b", &value);
      dbus_message_iter_append_basic(&value, DBUS_TYPE_BOOLEAN, &yes);
      dbus_message_iter_close_container(&entry, &value);
      dbus_message_iter_close_container(&options, &entry);
    }
    dbus_message_iter_close_container(&all, &options);
  }
}

/// A call from the words DEST PATH INTERFACE METHOD [ARGUMENT…].
static inline DBusMessage *new_call(int count, char **words) {
  if (count < 4) fail("usage", "DEST PATH INTERFACE METHOD [ARGUMENT...]");
  DBusMessage *message = dbus_message_new_method_call(words[0], words[1], words[2], words[3]);
  for (int i = 4; i < count; i++) append(message, words[i]);
  return message;
}

/// Sends `message`, waits, and gives the reply; takes the message.
static inline DBusMessage *call(DBusConnection *bus, DBusMessage *message) {
  DBusError error = DBUS_ERROR_INIT;
  DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, 30000, &error);
  if (!reply) fail(dbus_message_get_member(message), error.message);
  dbus_message_unref(message);
  return reply;
}
#endif
