// A wall clock that is wrong by the seconds in the file that LINKD_TEST_CLOCK names, and a boot clock by those in the file that
// LINKD_TEST_BOOT_CLOCK names: preloaded into a daemon. Without the second, the boot clock goes on as it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  const char *name = NULL;
  if (clock == CLOCK_REALTIME) name = getenv("LINKD_TEST_CLOCK");
  if (clock == CLOCK_BOOTTIME) name = getenv("LINKD_TEST_BOOT_CLOCK");
  FILE *file = result == 0 && name ? fopen(name, "re") : NULL;
  long offset = 0;
  if (file) {
    if (fscanf(file, "%ld", &offset) == 1) time->tv_sec += offset;
    fclose(file);
  }
  return result;
}
