// runner COUNT COMMAND… [: COMMAND…]…: starts each command in turn, COUNT times, and waits for it. Prints for each run the
// command's index, the microseconds from spawn to exit, and the exit code.
#include "floor.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

int main(int count, char **words) {
  if (count < 3) fail("usage", "runner COUNT COMMAND... [: COMMAND...]...");
  char **commands[16] = {words + 2};
  int known = 1, rounds = atoi(words[1]);
  for (int i = 2; i < count && known < 16; i++) {
    if (strcmp(words[i], ":")) continue;
    words[i] = NULL;
    commands[known++] = words + i + 1;
  }
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
  for (int round = -1; round < rounds; round++) {
    for (int i = 0; i < known; i++) {
      pid_t child;
      int status = 0;
      double start = microseconds();
      if (posix_spawnp(&child, commands[i][0], &quiet, NULL, commands[i], environ)) fail(commands[i][0], "can't start");
      waitpid(child, &status, 0);
      if (round >= 0) printf("%d %.1f %d\n", i, microseconds() - start, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
  }
  return 0;
}
