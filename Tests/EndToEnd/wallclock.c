// A wall clock that is wrong by the seconds that the file LINKD_TEST_CLOCK names: preloaded into a daemon, whose boot clock
// goes on as it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  const char *name = getenv("LINKD_TEST_CLOCK");
  FILE *file = result == 0 && clock == CLOCK_REALTIME && name ? fopen(name, "re") : NULL;
  long offset = 0;
  if (file) {
    if (fscanf(file, "%ld", &offset) == 1) time->tv_sec += offset;
    fclose(file);
  }
  return result;
}
