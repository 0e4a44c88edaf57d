// fanout SUBSCRIBERS COUNT SIGNAL-PATH SIGNAL-INTERFACE SIGNAL CALL… [: CALL…]: so many connections wait for the signal; the
// first call (DEST PATH INTERFACE METHOD [ARGUMENT…]) sets it off, COUNT times. The second one, if there is one, is made before
// each time, and what it sets off is waited for. Prints the microseconds from the call until the last connection has the signal,
// and those from the first connection that has it to the last.
#define _GNU_SOURCE
#include "floor.h"
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
  atomic_int ready, received;
  _Atomic double first, last;
};

static void subscribe(struct shared *shared, int subscribers, char **signal) {
  const char *interface = signal[1], *member = signal[2];
  char rule[512];
  snprintf(rule, sizeof rule, "type='signal',path='%s',interface='%s'", signal[0], interface);
  DBusConnection **buses = calloc((size_t)subscribers, sizeof *buses);
  struct pollfd *sockets = calloc((size_t)subscribers, sizeof *sockets);
  for (int i = 0; i < subscribers; i++) {
    DBusError error = DBUS_ERROR_INIT;
    buses[i] = session_bus();
    dbus_bus_add_match(buses[i], rule, &error);
    if (dbus_error_is_set(&error)) fail(rule, error.message);
    dbus_connection_get_unix_fd(buses[i], &sockets[i].fd);
    sockets[i].events = POLLIN;
    atomic_fetch_add(&shared->ready, 1);
  }
  while (poll(sockets, (nfds_t)subscribers, -1) > 0) {
    for (int i = 0; i < subscribers; i++) {
      if (!sockets[i].revents) continue;
      if (!dbus_connection_read_write(buses[i], 0)) exit(0);
      for (DBusMessage *message; (message = dbus_connection_pop_message(buses[i])); dbus_message_unref(message)) {
        if (!dbus_message_is_signal(message, interface, member)) continue;
        double now = microseconds();
        if (atomic_load(&shared->received) == 0) atomic_store(&shared->first, now);
        atomic_store(&shared->last, now);
        atomic_fetch_add(&shared->received, 1);
      }
    }
  }
}

/// Makes the call that prepares a round, and waits until all signals of it have come: none for a tenth of a second, or none at
/// all for one.
static void prepare(DBusConnection *bus, struct shared *shared, int length, char **words) {
  dbus_message_unref(call(bus, new_call(length, words)));
  for (int quiet = 0, before = 0; quiet < (before ? 100 : 1000); quiet++) {
    usleep(1000);
    int now = atomic_load(&shared->received);
    if (now != before) quiet = 0;
    before = now;
  }
}

int main(int count, char **words) {
  if (count < 10) fail("usage", "fanout SUBSCRIBERS COUNT SIGNAL-PATH SIGNAL-INTERFACE SIGNAL CALL... [: CALL...]");
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int length = 0;
  while (6 + length < count && strcmp(words[6 + length], ":")) length++;
  char **before = 6 + length < count ? words + 7 + length : NULL;
  int subscribers = atoi(words[1]), rounds = atoi(words[2]);
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  if (child == 0) {
    subscribe(shared, subscribers, words + 3);
    _exit(0);
  }
  while (atomic_load(&shared->ready) < subscribers && waitpid(child, NULL, WNOHANG) == 0) usleep(2000);
  DBusConnection *bus = session_bus();
  for (int round = before ? -1 : -2; round < rounds; round++) {
    atomic_store(&shared->received, 0);
    if (before) prepare(bus, shared, count - 7 - length, before);
    atomic_store(&shared->received, 0);
    double start = microseconds(), deadline = start + 20e6;
    dbus_message_unref(call(bus, new_call(length, words + 6)));
    while (atomic_load(&shared->received) < subscribers && microseconds() < deadline) usleep(50);
    if (atomic_load(&shared->received) < subscribers) fprintf(stderr, "only %d arrived\n", shared->received);
    double last = atomic_load(&shared->last);
    if (round >= 0) printf("%.1f %.1f\n", last - start, last - atomic_load(&shared->first));
    usleep(5000);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
