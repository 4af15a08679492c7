#pragma once
#include <stdint.h>

// What Swift cannot import, and what it had better not: the headers of BlueZ include those of the system, and
// would take their types from the module Glibc.

/// poll(2) that waits to the nanosecond; below zero it waits without an end.
///
/// The descriptors are an array of `struct pollfd`.
int lockstep_poll(void *descriptors, unsigned long count, int64_t nanoseconds);

/// A pipe whose ends are closed in every program that is started, by pipe2(2); the ends are an array of two; 0, or -1.
int lockstep_pipe(int *ends);

/// Has a program that is started begin in a folder, by posix_spawn_file_actions_addchdir_np(3); 0, or the error. The
/// actions are a `posix_spawn_file_actions_t`.
int lockstep_start_in_folder(void *actions, const char *folder);

/// Gives a file its blocks on the disk, from its beginning, by fallocate(2); 0, or -1.
int lockstep_allocate(int descriptor, int64_t size);

/// Has a handler take a signal that another process sent. The same signal by a mistake of this one's does what it did
/// before. There is one handler for all of them.
void lockstep_take_sent_signal(int number, void (*handler)(int));

/// A handle of a process, which never is that of another (pidfd_open(2)); or -1.
int lockstep_open_process(int process);

/// Sends a signal to the process of a handle; 0, or -1.
int lockstep_signal_process(int handle, int number);

/// What a clock of clock_gettime(2) tells, in nanoseconds. The type that it tells it in stands in headers which several
/// modules include, so that Swift does not always find it in Glibc.
int64_t lockstep_clock(int clock);

/// Waits for a signal that is blocked, for so many nanoseconds; its number, or -1.
int lockstep_await_signal(int number, int64_t nanoseconds);

/// Opens the user channel of an adapter, which must be down: a socket that carries HCI packets, or an error number
/// below zero.
int lockstep_open_user_channel(uint16_t adapter);

/// Gives back the room of the first octets of a file, which reads as zeros there from then on, by fallocate(2); 0, or -1.
int lockstep_punch_hole(int descriptor, int64_t count);

/// The number of the process at the other end of a connected socket, and its user (SO_PEERCRED); -1 where the system does
/// not tell.
int lockstep_peer(int descriptor, uint32_t *user);

/// Has the system make no core dump of this process, and let no other program of the user trace it or look into its
/// memory (PR_SET_DUMPABLE).
void lockstep_forbid_dumps(void);

/// The commit of which this was built, and that commit's day: `8a13f378c 2026-11-26`; empty where the build did not say.
const char *lockstep_build(void);

/// The variables of our environment, as `NAME=VALUE` each, with NULL after the last. The list that C calls `environ` is a
/// variable that anybody may change, which Swift does not take.
char **lockstep_environment(void);
