#define _GNU_SOURCE
#include "CShims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>

#ifndef LOCKSTEP_BUILD
#define LOCKSTEP_BUILD ""
#endif

const char *lockstep_build(void) { return LOCKSTEP_BUILD; }

int lockstep_poll(void *descriptors, unsigned long count, int64_t nanoseconds) {
  struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  return ppoll(descriptors, count, nanoseconds < 0 ? NULL : &limit, NULL);
}

int lockstep_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int lockstep_start_in_folder(void *actions, const char *folder) {
  return posix_spawn_file_actions_addchdir_np(actions, folder);
}

int lockstep_allocate(int descriptor, int64_t size) { return fallocate(descriptor, 0, 0, size); }

static void (*take_sent)(int);
static struct sigaction others[NSIG];

static void take_or_die(int number, siginfo_t *info, void *context) {
  (void)context;
  if ((info->si_code == SI_USER || info->si_code == SI_QUEUE) && info->si_pid != getpid()) {
    take_sent(number);
    return;
  }
  // It does what it would have done: a mistake is made again when this returns, and what else it is comes once more.
  sigaction(number, &others[number], NULL);
  if (info->si_code <= 0 || number == SIGTRAP || number == SIGSYS) raise(number);
}

void lockstep_take_sent_signal(int number, void (*handler)(int)) {
  struct sigaction before;
  struct sigaction action = {.sa_sigaction = take_or_die, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&action.sa_mask);
  take_sent = handler;
  if (sigaction(number, NULL, &before) != 0 || before.sa_sigaction == take_or_die) return;
  others[number] = before;
  sigaction(number, &action, NULL);
}

int lockstep_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int lockstep_signal_process(int handle, int number) {
  return (int)syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
}

int64_t lockstep_clock(int clock) {
  struct timespec time = {0};
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int lockstep_await_signal(int number, int64_t nanoseconds) {
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return sigtimedwait(&set, NULL, &time);
}

int lockstep_punch_hole(int descriptor, int64_t count) {
  return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, count);
}

int lockstep_open_user_channel(uint16_t adapter) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_HCI);
  if (descriptor < 0)
    return -errno;
  struct sockaddr_hci address = {
      .hci_family = AF_BLUETOOTH, .hci_dev = adapter, .hci_channel = HCI_CHANNEL_USER};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
    return descriptor;
  int code = errno;
  close(descriptor);
  return -code;
}

int lockstep_peer(int descriptor, uint32_t *user) {
  struct ucred peer = {0};
  socklen_t size = sizeof peer;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return -1;
  *user = peer.uid;
  return peer.pid;
}

void lockstep_forbid_dumps(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

char **lockstep_environment(void) { return environ; }
