#pragma once
#include <stdint.h>

/// poll(2) that waits to the nanosecond; below zero it waits without an end.
///
/// The descriptors are an array of `struct pollfd`. Naming it here would take that type from the module Glibc.
int lockstep_poll(void *descriptors, unsigned long count, int64_t nanoseconds);
