/* Preloaded into a night, it makes one wait of one of its runs for a radio last 40 s, as a driver that does not come back
   does: the first one after the file HANG is there. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_run(void) {
  char words[4096] = {0};
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? -1 : read(file, words, sizeof words - 1);
  if (file >= 0) close(file);
  return count > 0 && memmem(words, count, "nightly-case", 12) != NULL;
}

int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit, const sigset_t *signals) {
  static int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
  if (!real) real = dlsym(RTLD_NEXT, "ppoll");
  const char *hang = getenv("HANG");
  /* Ways are opened in threads of their own, which are given up by themselves. */
  if (count > 0 && hang && gettid() == getpid() && is_run() && unlink(hang) == 0) sleep(40);
  return real(descriptors, count, limit, signals);
}
