/* Signs you in through linkd by a mailed link, and says who you are.
 *
 * Needs libdbus-1-dev. Build and run:
 *   cc -o sign-in sign-in.c $(pkg-config --cflags --libs dbus-1)
 *   ./sign-in APP EMAIL [--show-token]
 * APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.
 */
#include <dbus/dbus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINKD "org.linkd.Auth1"
#define IN(name) LINKD "." name

static DBusConnection *bus;
static volatile sig_atomic_t interrupted;
static void interrupt(int number) { (void)number; interrupted = 1; }

/* Sends a call and gives its answer. Ends the program with the error: its name is the contract
 * (org.linkd.Auth1.Error.…), its message is for people. */
static DBusMessage *answer_to(DBusMessage *message) {
  DBusError error = DBUS_ERROR_INIT;
  DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, 25000, &error);
  dbus_message_unref(message);
  if (!reply) {
    fprintf(stderr, "%s (%s)\n", error.message, error.name);
    exit(1);
  }
  return reply;
}

/* Calls a method with at most one string before the empty options that end every call of linkd's. */
static DBusMessage *call(const char *path, const char *interface, const char *member, const char *text) {
  DBusMessage *message = dbus_message_new_method_call(LINKD, path, interface, member);
  DBusMessageIter arguments, options;
  dbus_message_iter_init_append(message, &arguments);
  if (text) dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &text);
  if (strncmp(interface, LINKD, strlen(LINKD)) == 0) {
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_close_container(&arguments, &options);
  }
  return answer_to(message);
}

/* A string or path that `iter` stands at, also inside a variant; never NULL. */
static const char *text_at(DBusMessageIter *iter) {
  DBusMessageIter inner;
  const char *text = "";
  int type = dbus_message_iter_get_arg_type(iter);
  if (type == DBUS_TYPE_VARIANT) {
    dbus_message_iter_recurse(iter, &inner);
    return text_at(&inner);
  }
  if (type == DBUS_TYPE_STRING || type == DBUS_TYPE_OBJECT_PATH) dbus_message_iter_get_basic(iter, &text);
  return text;
}

/* The value of `key` in the a{sv} that `iter` stands at, also inside a variant; "" where it has none. */
static const char *text_for(DBusMessageIter *iter, const char *key) {
  DBusMessageIter inner, entry;
  int type = dbus_message_iter_get_arg_type(iter);
  if (type != DBUS_TYPE_VARIANT && type != DBUS_TYPE_ARRAY) return "";
  dbus_message_iter_recurse(iter, &inner);
  if (type == DBUS_TYPE_VARIANT) return text_for(&inner, key);
  for (; dbus_message_iter_get_arg_type(&inner) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&inner)) {
    dbus_message_iter_recurse(&inner, &entry);
    int found = strcmp(text_at(&entry), key) == 0;
    dbus_message_iter_next(&entry);
    if (found) return text_at(&entry);
  }
  return "";
}

/* A property as text, or of an a{sv} property the value of `key`. The caller frees it. */
static char *get(const char *path, const char *interface, const char *name, const char *key) {
  DBusMessage *message = dbus_message_new_method_call(LINKD, path, DBUS_INTERFACE_PROPERTIES, "Get");
  dbus_message_append_args(message, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
  DBusMessage *reply = answer_to(message);
  DBusMessageIter iter;
  dbus_message_iter_init(reply, &iter);
  char *text = strdup(key ? text_for(&iter, key) : text_at(&iter));
  dbus_message_unref(reply);
  return text;
}

/* Waits until the flow has ended, and gives its last stage. Ctrl-C cancels it. */
static char *wait_for(const char *flow) {
  static const char *ends[] = {"succeeded", "failed", "cancelled", "expired"};
  for (;;) {
    char *stage = get(flow, IN("Flow"), "Stage", NULL);
    for (int i = 0; i < 4; i++)
      if (strcmp(stage, ends[i]) == 0) return stage;
    free(stage);
    /* A signal says that something is new; the property says what. So nothing is missed. */
    DBusMessage *message = NULL;
    while (!message) {
      if (interrupted == 1) {
        interrupted = 2;
        dbus_message_unref(call(flow, IN("Flow"), "Cancel", NULL));
        break;
      }
      if (!dbus_connection_read_write(bus, 200)) exit(1);
      message = dbus_connection_pop_message(bus);
    }
    if (message) dbus_message_unref(message);
  }
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: sign-in APP EMAIL [--show-token]\n");
    return 64;
  }
  DBusError error = DBUS_ERROR_INIT;
  bus = dbus_bus_get(DBUS_BUS_SESSION, &error);
  if (!bus) {
    fprintf(stderr, "%s (%s)\n", error.message, error.name);
    return 1;
  }
  signal(SIGINT, interrupt);
  dbus_bus_add_match(bus, "type='signal',sender='" LINKD "',interface='" IN("Flow") "',member='StageChanged'", NULL);

  /* Three lines to sign your user in. */
  const char *app, *flow;
  DBusMessage *found = call("/org/linkd/Auth1", IN("Manager"), "GetApp", words[1]);
  dbus_message_get_args(found, NULL, DBUS_TYPE_OBJECT_PATH, &app, DBUS_TYPE_INVALID);
  DBusMessage *started = call(app, IN("SignIn"), "SendSignInLink", words[2]);
  dbus_message_get_args(started, NULL, DBUS_TYPE_OBJECT_PATH, &flow, DBUS_TYPE_INVALID);
  printf("A link was sent to %s. Open it on this machine.\n", words[2]);
  fflush(stdout);
  char *stage = wait_for(flow);

  if (strcmp(stage, "succeeded") != 0) {
    fprintf(stderr, "It ended without a sign-in (%s). %s\n", stage, get(flow, IN("Flow"), "Details", "message"));
    return strcmp(stage, "cancelled") == 0 ? 130 : 1;
  }
  printf("state: %s\n", get(app, IN("Session"), "State", NULL));
  printf("user: %s\n", get(app, IN("Session"), "User", "email"));
  /* A token is fetched when it is needed, never stored: linkd keeps it fresh. */
  DBusMessage *answer = call(app, IN("Session"), "GetIdToken", NULL);
  const char *token;
  dbus_int64_t expires;
  dbus_message_get_args(answer, NULL, DBUS_TYPE_STRING, &token, DBUS_TYPE_INT64, &expires, DBUS_TYPE_INVALID);
  time_t seconds = (time_t)expires;
  char until[32];
  strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
  printf("token until: %s\n", until);
  if (count > 3 && strcmp(words[3], "--show-token") == 0) printf("%s\n", token);
  return 0;
}
