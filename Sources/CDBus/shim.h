// What Swift can't see of libdbus: its type codes are character-literal macros.
#ifndef CDBUS_SHIM_H
#define CDBUS_SHIM_H
#include <dbus/dbus.h>
#include <stdbool.h>
#include <stdint.h>

static const int CDBUS_INVALID = DBUS_TYPE_INVALID;
static const int CDBUS_BYTE = DBUS_TYPE_BYTE;
static const int CDBUS_BOOLEAN = DBUS_TYPE_BOOLEAN;
static const int CDBUS_INT16 = DBUS_TYPE_INT16;
static const int CDBUS_UINT16 = DBUS_TYPE_UINT16;
static const int CDBUS_INT32 = DBUS_TYPE_INT32;
static const int CDBUS_UINT32 = DBUS_TYPE_UINT32;
static const int CDBUS_INT64 = DBUS_TYPE_INT64;
static const int CDBUS_UINT64 = DBUS_TYPE_UINT64;
static const int CDBUS_DOUBLE = DBUS_TYPE_DOUBLE;
static const int CDBUS_STRING = DBUS_TYPE_STRING;
static const int CDBUS_OBJECT_PATH = DBUS_TYPE_OBJECT_PATH;
static const int CDBUS_SIGNATURE = DBUS_TYPE_SIGNATURE;
static const int CDBUS_UNIX_FD = DBUS_TYPE_UNIX_FD;
static const int CDBUS_ARRAY = DBUS_TYPE_ARRAY;
static const int CDBUS_VARIANT = DBUS_TYPE_VARIANT;
static const int CDBUS_STRUCT = DBUS_TYPE_STRUCT;
static const int CDBUS_DICT_ENTRY = DBUS_TYPE_DICT_ENTRY;

// append_basic takes the address of a `const char *`, which costs Swift a nest of closures.
static inline bool cdbus_append_text(DBusMessageIter *iter, int type, const char *text) {
  return dbus_message_iter_append_basic(iter, type, &text);
}

static inline const char *cdbus_get_text(DBusMessageIter *iter) {
  const char *text = "";
  dbus_message_iter_get_basic(iter, &text);
  return text;
}

// get_basic writes as many bytes as the type has: the union is libdbus' own way to read any of them.
static inline DBusBasicValue cdbus_get_basic(DBusMessageIter *iter) {
  DBusBasicValue value = {.u64 = 0};
  dbus_message_iter_get_basic(iter, &value);
  return value;
}

static inline bool cdbus_append_bytes(DBusMessageIter *iter, const uint8_t *bytes, int count) {
  static const uint8_t none = 0;
  const uint8_t *start = bytes ? bytes : &none;
  DBusMessageIter array;
  if (!dbus_message_iter_open_container(iter, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE_AS_STRING, &array)) return false;
  if (!dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &start, count)) {
    dbus_message_iter_abandon_container(iter, &array);
    return false;
  }
  return dbus_message_iter_close_container(iter, &array);
}

/// The bytes of the array `iter` stands on. They belong to the message.
static inline const uint8_t *cdbus_get_bytes(DBusMessageIter *iter, int *count) {
  const uint8_t *bytes = 0;
  DBusMessageIter array;
  dbus_message_iter_recurse(iter, &array);
  dbus_message_iter_get_fixed_array(&array, &bytes, count);
  return bytes;
}
#endif
