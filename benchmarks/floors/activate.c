// activate COUNT CALL… [: CALL…]…: each call (DEST PATH INTERFACE METHOD [ARGUMENT…]) in turn, COUNT times. The service isn't
// running when its call is sent, so that the bus starts it, and is ended again after the reply. Prints the call's index and
// the microseconds from the call to the reply.
#define _GNU_SOURCE
#include "floor.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static DBusMessage *ask(DBusConnection *bus, const char *method, const char *name) {
  DBusMessage *message = dbus_message_new_method_call(DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, method);
  dbus_message_append_args(message, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
  return call(bus, message);
}

/// Ends the owner of `name`, if there is one, as a service manager would; waits until it's gone.
static void end(DBusConnection *bus, const char *name) {
  if (!dbus_bus_name_has_owner(bus, name, NULL)) return;
  dbus_uint32_t process = 0;
  DBusMessage *reply = ask(bus, "GetConnectionUnixProcessID", name);
  dbus_message_get_args(reply, NULL, DBUS_TYPE_UINT32, &process, DBUS_TYPE_INVALID);
  dbus_message_unref(reply);
  int handle = (int)syscall(SYS_pidfd_open, (pid_t)process, 0);
  if (handle < 0) fail(name, strerror(errno));
  kill((pid_t)process, SIGTERM);
  struct pollfd gone = {handle, POLLIN, 0};
  if (poll(&gone, 1, 5000) == 0) {
    kill((pid_t)process, SIGKILL);
    poll(&gone, 1, 5000);
  }
  close(handle);
  while (dbus_bus_name_has_owner(bus, name, NULL)) usleep(1000);
}

int main(int count, char **words) {
  if (count < 6) fail("usage", "activate COUNT CALL... [: CALL...]...");
  char **calls[8] = {words + 2};
  int lengths[8] = {0}, known = 1, rounds = atoi(words[1]);
  for (int i = 2; i < count && known < 8; i++) {
    if (strcmp(words[i], ":")) {
      lengths[known - 1]++;
    } else {
      calls[known++] = words + i + 1;
    }
  }
  DBusConnection *bus = session_bus();
  for (int round = -1; round < rounds; round++) {
    for (int i = 0; i < known; i++) {
      end(bus, calls[i][0]);
      double start = microseconds();
      DBusMessage *reply = call(bus, new_call(lengths[i], calls[i]));
      if (round >= 0) printf("%d %.1f\n", i, microseconds() - start);
      dbus_message_unref(reply);
      // What it does after its answer is no part of the next one's time.
      usleep(20000);
    }
  }
  for (int i = 0; i < known; i++) end(bus, calls[i][0]);
  return 0;
}
