// What the Glibc module leaves out: eventfd, timerfd, signalfd, and the walk over loaded objects.
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// Flags come as enum constants that Swift sees as Int: fixed here to what the calls take.
static inline int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// A timer on CLOCK_BOOTTIME, which counts on while the machine sleeps and wakes poll(2) on resume.
static inline int clinux_boot_timerfd(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

/// Arms the timer for an absolute boot time; 0 disarms.
static inline int clinux_timerfd_set(int fd, uint64_t nanoseconds) {
  struct itimerspec t = {{0, 0}, {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)}};
  return timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, 0);
}

// GNU extensions, declared by hand for the reason given below.
extern int pipe2(int ends[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// A pipe that no child inherits by accident.
static inline int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

/// The child starts without the descriptors from `first` on.
static inline int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

static inline int clinux_signalfd(int fd, const sigset_t *mask) { return signalfd(fd, mask, SFD_CLOEXEC | SFD_NONBLOCK); }

/// The next pending signal of the descriptor, or 0.
static inline int clinux_signalfd_read(int fd) {
  struct signalfd_siginfo info;
  return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

/// The name of the calling thread, as debuggers and /proc show it (15 bytes).
static inline void clinux_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// <link.h> has these for _GNU_SOURCE alone, and defining that changes types that the Glibc module has laid out already.
struct clinux_object {
  ElfW(Addr) base;
  const char *name;
  const ElfW(Phdr) *segments;
  ElfW(Half) count;
};
extern int dl_iterate_phdr(int (*)(struct clinux_object *, size_t, void *), void *);

static inline int clinux_drop_segments(struct clinux_object *object, size_t size, void *context) {
  (void)size;
  (void)context;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->count; i++) {
    const ElfW(Phdr) *segment = &object->segments[i];
    // Writable segments hold relocated data that nothing could bring back.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
    uintptr_t start = object->base + segment->p_vaddr;
    uintptr_t end = (start + segment->p_memsz) & ~(page - 1);
    start &= ~(page - 1);
    // The vDSO isn't file backed: the kernel refuses it, which is fine.
    if (end > start && start > 65536) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

/// Unmaps the clean read-only pages (code, constants) of every loaded object; they come back from the page cache.
static inline void clinux_drop_clean_pages(void) { dl_iterate_phdr(clinux_drop_segments, 0); }
#endif
