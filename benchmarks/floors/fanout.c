// fanout SUBSCRIBERS COUNT SIGNAL-INTERFACE SIGNAL DEST PATH INTERFACE METHOD [ARGUMENT…]: so many connections wait for the
// signal; the call that sets it off is made COUNT times. Prints the microseconds from the call until the last one has it.
#define _GNU_SOURCE
#include "floor.h"
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
  atomic_int ready, received;
  _Atomic double last;
};

static void subscribe(struct shared *shared, int subscribers, const char *interface, const char *member) {
  char rule[512];
  snprintf(rule, sizeof rule, "type='signal',interface='%s',member='%s'", interface, member);
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
        atomic_store(&shared->last, microseconds());
        atomic_fetch_add(&shared->received, 1);
      }
    }
  }
}

int main(int count, char **words) {
  if (count < 9) fail("usage", "fanout SUBSCRIBERS COUNT SIGNAL-INTERFACE SIGNAL CALL...");
  int subscribers = atoi(words[1]), rounds = atoi(words[2]);
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  if (child == 0) {
    subscribe(shared, subscribers, words[3], words[4]);
    _exit(0);
  }
  while (atomic_load(&shared->ready) < subscribers && waitpid(child, NULL, WNOHANG) == 0) usleep(2000);
  DBusConnection *bus = session_bus();
  for (int round = -2; round < rounds; round++) {
    atomic_store(&shared->received, 0);
    double start = microseconds(), deadline = start + 20e6;
    dbus_message_unref(call(bus, new_call(count - 5, words + 5)));
    while (atomic_load(&shared->received) < subscribers && microseconds() < deadline) usleep(50);
    if (atomic_load(&shared->received) < subscribers) fprintf(stderr, "only %d arrived\n", shared->received);
    if (round >= 0) printf("%.1f\n", atomic_load(&shared->last) - start);
    usleep(5000);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
