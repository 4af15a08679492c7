#define _GNU_SOURCE
#include "CShims.h"

#include <poll.h>
#include <stddef.h>
#include <time.h>

int lockstep_poll(void *descriptors, unsigned long count, int64_t nanoseconds) {
  struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  return ppoll(descriptors, count, nanoseconds < 0 ? NULL : &limit, NULL);
}
