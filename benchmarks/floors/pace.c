// pace PAUSE CALL… (DEST PATH INTERFACE METHOD [ARGUMENT…]): one call for each line of standard input, which takes the place of
// the argument `s=-`; PAUSE milliseconds between them, so that nothing of one is still at work in the next. Prints the
// microseconds of each. Without an `s=-` it goes on until it's killed, and prints nothing.
#include "floor.h"
#include <unistd.h>

int main(int count, char **words) {
  if (count < 6) fail("usage", "pace PAUSE DEST PATH INTERFACE METHOD [ARGUMENT...]");
  char line[8192] = "s=", *given[16];
  int lengths = count - 2 < 16 ? count - 2 : 16, reads = 0;
  for (int i = 0; i < lengths; i++) {
    given[i] = words[i + 2];
    if (strcmp(given[i], "s=-")) continue;
    given[i] = line;
    reads = 1;
  }
  DBusConnection *bus = session_bus();
  while (!reads || fgets(line + 2, sizeof line - 2, stdin)) {
    line[strcspn(line, "\n")] = 0;
    double start = microseconds();
    DBusMessage *reply = call(bus, new_call(lengths, given));
    if (reads) printf("%.1f\n", microseconds() - start);
    dbus_message_unref(reply);
    usleep(1000 * (useconds_t)atoi(words[1]));
  }
  return 0;
}
