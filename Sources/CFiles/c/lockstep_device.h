/* A program as a device for Lockstep: what it does is yours, and the lines between the two are here.

       #define LOCKSTEP_DEVICE            // in one file of the program
       #include "lockstep_device.h"

       static int is_open;

       static void shut(void *data) { (void)data; is_open = 0; lockstep_show("Closed"); }

       static void reset(const lockstep_values *start) { (void)start; is_open = 0; lockstep_show("Closed"); }

       static void stimulus(const char *name, const lockstep_values *arguments) {
         (void)name; (void)arguments;
         if (is_open) { lockstep_refuse("it is open"); return; }
         is_open = 1;
         lockstep_show("Opened");
         lockstep_after(5.0, shut, NULL);     // it shuts by itself
       }

       int main(void) {
         static const char *const stimuli[] = {"Open", NULL};
         static const lockstep_device door = {
             .name = "door", .is_virtual = 1, .stimuli = stimuli, .reset = reset, .stimulus = stimulus};
         return lockstep_run(&door);
       }

   In virtual time a program has no clock: lockstep_now() is what Lockstep says, and lockstep_after() is all there is to
   time. Without .is_virtual the same program lives by the clock. Standard output is for
   answers. What is printed with printf() from lockstep_run() on goes to the standard error, which Lockstep keeps with the
   run. Print nothing before that.

   One header, C99 or C++ and POSIX (-D_POSIX_C_SOURCE=200809L with -std=c99), one thread. The protocol is on the page "A lock as one program". */

#ifndef LOCKSTEP_DEVICE_H
#define LOCKSTEP_DEVICE_H

#include <stdint.h>

/* Values by name: the settings of a start, the arguments of a stimulus, or the `value` of a fault. They last as long as the
   call that they were given to. */
typedef struct lockstep_values lockstep_values;

/* Those of a name, or what is given for one that is not there. The text of a number or a flag is as JSON has it, and so is that
   of a list, a map or a record. Bytes are hexadecimal digits; durations and instants are numbers of seconds. */
const char *lockstep_text(const lockstep_values *values, const char *name, const char *other);
double lockstep_number(const lockstep_values *values, const char *name, double other);
int lockstep_flag(const lockstep_values *values, const char *name, int other);

/* What a device is. What is left out is as with a device that says nothing of it. */
typedef struct {
  const char *name;
  /* Whether it has no clock. */
  int is_virtual;
  /* What it understands, with NULL after the last. */
  const char *const *stimuli;
  /* More of what it says of itself, as JSON: "\"faults\":{\"jam\":[true,false]},\"readings\":[\"battery\"]". */
  const char *more;
  void (*reset)(const lockstep_values *start);
  void (*stimulus)(const char *name, const lockstep_values *arguments);
  void (*fault)(const char *name, const lockstep_values *value);
} lockstep_device;

/* Answers until there is nothing more to answer; the program's exit status. */
int lockstep_run(const lockstep_device *device);

/* The seconds since the test began. */
double lockstep_now(void);
/* Does something later; the number that comes back calls it off. */
unsigned lockstep_after(double seconds, void (*action)(void *data), void *data);
void lockstep_cancel(unsigned number);
/* The seed of the test, from which all chances are to follow. */
uint64_t lockstep_seed(void);

void lockstep_show(const char *status);
void lockstep_effect(const char *name);
void lockstep_read_number(const char *name, double value);
void lockstep_read_text(const char *name, const char *value);
void lockstep_read_flag(const char *name, int value);
/* A value in JSON: a list, a map or a record. */
void lockstep_read_json(const char *name, const char *json);
/* An event that happened to it, such as a lost link. */
void lockstep_event(const char *name, const char *detail);
/* A rule of a protocol was broken, which ends the test. */
void lockstep_violation(const char *rule, const char *detail);
/* A word to people. */
void lockstep_log(const char *text);
/* What is asked for is not done, and why. */
void lockstep_refuse(const char *reason);

#endif

#ifdef LOCKSTEP_DEVICE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct lockstep_value {
  char *name;
  char *text;
  char kind; /* 's' a text, 'n' a number, 't' or 'f', '{' or '[' what is kept as it is written */
};

struct lockstep_values {
  struct lockstep_value *items;
  size_t count, room;
};

struct lockstep_timer {
  int64_t due;
  unsigned number;
  void (*action)(void *data);
  void *data;
};

static struct {
  const lockstep_device *device;
  int output, is_asked, is_performing, is_advancing, has_shown;
  int64_t now, epoch;
  uint64_t seed;
  unsigned numbers;
  struct lockstep_timer *timers;
  size_t timer_count, timer_room;
  char *lines, *input, *refusal;
  size_t size, room, input_size, input_room;
} lockstep_;

static void *lockstep_grow(void *old, size_t *room, size_t wanted, size_t each) {
  if (wanted <= *room) return old;
  while (*room < wanted) *room = *room ? *room * 2 : 64;
  void *grown = realloc(old, *room * each);
  if (!grown) { perror("lockstep_device"); exit(1); }
  return grown;
}

/* Writing */

static void lockstep_put(const char *text, size_t count) {
  lockstep_.lines = (char *)lockstep_grow(lockstep_.lines, &lockstep_.room, lockstep_.size + count, 1);
  memcpy(lockstep_.lines + lockstep_.size, text, count);
  lockstep_.size += count;
}

static void lockstep_word(const char *text) { lockstep_put(text, strlen(text)); }

static void lockstep_quoted(const char *text) {
  lockstep_put("\"", 1);
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\') lockstep_put("\\", 1);
    if (byte < 0x20) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", byte);
      lockstep_word(escape);
    } else {
      lockstep_put(text, 1);
    }
  }
  lockstep_put("\"", 1);
}

static void lockstep_seconds(int64_t nanoseconds) {
  char text[40];
  snprintf(text, sizeof text, "%lld.%09lld", (long long)(nanoseconds / 1000000000),
           (long long)(nanoseconds % 1000000000));
  lockstep_word(text);
}

static void lockstep_flush(void) {
  size_t done = 0;
  while (done < lockstep_.size) {
    ssize_t count = write(lockstep_.output, lockstep_.lines + done, lockstep_.size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) exit(1);
    done += (size_t)count;
  }
  lockstep_.size = 0;
}

static void lockstep_begin_line(const char *kind) {
  lockstep_word("{\"");
  lockstep_word(kind);
  lockstep_word("\":");
}

static void lockstep_end_shown(void) {
  if (lockstep_.is_advancing) {
    lockstep_word(",\"at\":");
    lockstep_seconds(lockstep_.now);
  }
  lockstep_word("}\n");
  lockstep_.has_shown = 1;
}

static void lockstep_shown(const char *kind, const char *name, const char *detail) {
  lockstep_begin_line(kind);
  lockstep_quoted(name);
  if (detail && *detail) {
    lockstep_word(",\"detail\":");
    lockstep_quoted(detail);
  }
  lockstep_end_shown();
}

void lockstep_show(const char *status) { lockstep_shown("status", status, NULL); }
void lockstep_effect(const char *name) { lockstep_shown("effect", name, NULL); }
void lockstep_event(const char *name, const char *detail) { lockstep_shown("event", name, detail); }
void lockstep_violation(const char *rule, const char *detail) { lockstep_shown("violation", rule, detail); }

static void lockstep_begin_reading(const char *name) {
  lockstep_word("{\"reading\":{");
  lockstep_quoted(name);
  lockstep_word(":");
}

static void lockstep_end_reading(void) {
  lockstep_word("}");
  lockstep_end_shown();
}

void lockstep_read_number(const char *name, double value) {
  char text[40];
  if (!(value - value == 0)) { lockstep_read_text(name, "not a number"); return; }
  snprintf(text, sizeof text, "%.17g", value);
  lockstep_begin_reading(name);
  lockstep_word(text);
  lockstep_end_reading();
}

void lockstep_read_text(const char *name, const char *value) {
  lockstep_begin_reading(name);
  lockstep_quoted(value);
  lockstep_end_reading();
}

void lockstep_read_flag(const char *name, int value) {
  lockstep_begin_reading(name);
  lockstep_word(value ? "true" : "false");
  lockstep_end_reading();
}

void lockstep_read_json(const char *name, const char *json) {
  lockstep_begin_reading(name);
  lockstep_word(json);
  lockstep_end_reading();
}

void lockstep_log(const char *text) {
  /* What is longer is no word to people any more; a character is not cut. */
  char shown[8001];
  size_t size = strlen(text);
  if (size >= sizeof shown) {
    for (size = sizeof shown - 1; size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80;) size--;
  }
  memcpy(shown, text, size);
  shown[size] = 0;
  lockstep_begin_line("log");
  lockstep_quoted(shown);
  lockstep_word("}\n");
  if (!lockstep_.is_asked && !lockstep_.device->is_virtual) lockstep_flush();
}

void lockstep_refuse(const char *reason) {
  free(lockstep_.refusal);
  /* Nobody asked for what a timer does. */
  lockstep_.refusal = NULL;
  if (!lockstep_.is_performing) return;
  size_t size = strlen(reason) + 1;
  lockstep_.refusal = (char *)malloc(size);
  if (lockstep_.refusal) memcpy(lockstep_.refusal, reason, size);
}

/* Time: whole nanoseconds, since a timer would miss its moment by nothing if seconds were added up in floating point. */

static int64_t lockstep_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* What is later than some hundred years never comes. */
static int64_t lockstep_rounded(double seconds) {
  return seconds < 4e9 ? (int64_t)(seconds * 1e9 + 0.5) : (int64_t)4000000000 * 1000000000;
}

static int64_t lockstep_time(void) {
  return lockstep_.device->is_virtual ? lockstep_.now : lockstep_clock() - lockstep_.epoch;
}

double lockstep_now(void) { return (double)lockstep_time() / 1e9; }
uint64_t lockstep_seed(void) { return lockstep_.seed; }

unsigned lockstep_after(double seconds, void (*action)(void *data), void *data) {
  lockstep_.timers = (struct lockstep_timer *)lockstep_grow(
      lockstep_.timers, &lockstep_.timer_room, lockstep_.timer_count + 1, sizeof *lockstep_.timers);
  struct lockstep_timer timer = {lockstep_time() + lockstep_rounded(seconds > 0 ? seconds : 0),
                                 ++lockstep_.numbers, action, data};
  lockstep_.timers[lockstep_.timer_count++] = timer;
  return timer.number;
}

void lockstep_cancel(unsigned number) {
  for (size_t index = 0; index < lockstep_.timer_count; index++) {
    if (lockstep_.timers[index].number != number) continue;
    lockstep_.timers[index] = lockstep_.timers[--lockstep_.timer_count];
    return;
  }
}

/* The timer that is due first, of several the one that was set first; NULL where there is none. */
static struct lockstep_timer *lockstep_next(void) {
  struct lockstep_timer *next = NULL;
  for (size_t index = 0; index < lockstep_.timer_count; index++) {
    struct lockstep_timer *timer = &lockstep_.timers[index];
    if (!next || timer->due < next->due || (timer->due == next->due && timer->number < next->number)) next = timer;
  }
  return next;
}

static void lockstep_fire(int64_t limit) {
  struct lockstep_timer *next;
  while ((next = lockstep_next()) && next->due <= limit) {
    struct lockstep_timer due = *next;
    lockstep_cancel(due.number);
    due.action(due.data);
  }
}

static void lockstep_advance(int64_t limit) {
  struct lockstep_timer *next;
  lockstep_.is_advancing = 1;
  lockstep_.has_shown = 0;
  while (!lockstep_.has_shown && (next = lockstep_next()) && next->due <= limit) {
    if (next->due > lockstep_.now) lockstep_.now = next->due;
    lockstep_fire(next->due);
  }
  if (!lockstep_.has_shown) lockstep_.now = limit;
  lockstep_.is_advancing = 0;
}

/* Reading: requests are objects of values, and of objects of values. What is read is written over the line; a list, and an
   object in an inner one, stay as they are written. */

static void lockstep_wrong(void) {
  fputs("lockstep_device: this is no request\n", stderr);
  exit(1);
}

static char *lockstep_skip(char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') at++;
  return at;
}

static char *lockstep_utf8(char *to, unsigned code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

/* Reads a quoted text, in its place; what follows it. */
static char *lockstep_string(char *at, char **text) {
  if (*at++ != '"') lockstep_wrong();
  char *to = *text = at;
  while (*at != '"') {
    if (!*at) lockstep_wrong();
    if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    unsigned code = 0, low = 0;
    switch (at[1]) {
      case 'n': *to++ = '\n'; break;
      case 't': *to++ = '\t'; break;
      case 'r': *to++ = '\r'; break;
      case 'b': *to++ = '\b'; break;
      case 'f': *to++ = '\f'; break;
      case 'u':
        if (sscanf(at + 2, "%4x", &code) != 1) lockstep_wrong();
        at += 4;
        if (code >= 0xD800 && code < 0xDC00 && at[2] == '\\' && sscanf(at + 4, "%4x", &low) == 1) {
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          at += 6;
        }
        to = lockstep_utf8(to, code);
        break;
      case 0: lockstep_wrong(); break;
      default: *to++ = at[1];
    }
    at += 2;
  }
  *to = 0;
  return at + 1;
}

/* What follows a list or an object. */
static char *lockstep_whole(char *at) {
  int depth = 0;
  do {
    if (!*at) lockstep_wrong();
    if (*at == '"') {
      for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) at++;
      }
      if (!*at) lockstep_wrong();
    } else if (*at == '{' || *at == '[') {
      depth++;
    } else if (*at == '}' || *at == ']') {
      depth--;
    }
    at++;
  } while (depth > 0);
  return at;
}

/* Reads an object; the members of an object in it go to others. */
static char *lockstep_object(char *at, struct lockstep_values *values, struct lockstep_values *inner) {
  at = lockstep_skip(at);
  if (*at++ != '{') lockstep_wrong();
  at = lockstep_skip(at);
  while (*at != '}') {
    values->items = (struct lockstep_value *)lockstep_grow(
        values->items, &values->room, values->count + 1, sizeof *values->items);
    struct lockstep_value *value = &values->items[values->count++];
    at = lockstep_skip(lockstep_string(at, &value->name));
    if (*at++ != ':') lockstep_wrong();
    at = lockstep_skip(at);
    value->text = at;
    value->kind = *at == '"' ? 's' : strchr("tf{[", *at) ? *at : 'n';
    char *end;
    if (*at == '"') {
      at = lockstep_string(at, &value->text);
    } else if (*at == '[' || (*at == '{' && !inner)) {
      at = lockstep_whole(at);
    } else if (*at == '{') {
      /* Of several, such as a greeting beside a reset, the last one counts. */
      inner->count = 0;
      at = lockstep_object(at, inner, NULL);
    } else {
      for (end = at; *end && *end != ',' && *end != '}'; end++) {}
      at = end;
    }
    char *after = lockstep_skip(at);
    char mark = *after;
    if (mark != ',' && mark != '}') lockstep_wrong();
    if (value->kind != 's') *at = 0;
    if (mark == '}') return after + 1;
    at = lockstep_skip(after + 1);
  }
  return at + 1;
}

static const struct lockstep_value *lockstep_find(const lockstep_values *values, const char *name) {
  for (size_t index = 0; values && index < values->count; index++) {
    if (!strcmp(values->items[index].name, name)) return &values->items[index];
  }
  return NULL;
}

const char *lockstep_text(const lockstep_values *values, const char *name, const char *other) {
  const struct lockstep_value *value = lockstep_find(values, name);
  return value ? value->text : other;
}

double lockstep_number(const lockstep_values *values, const char *name, double other) {
  const struct lockstep_value *value = lockstep_find(values, name);
  return value && value->kind == 'n' ? strtod(value->text, NULL) : other;
}

int lockstep_flag(const lockstep_values *values, const char *name, int other) {
  const struct lockstep_value *value = lockstep_find(values, name);
  return value && (value->kind == 't' || value->kind == 'f') ? value->kind == 't' : other;
}

/* Answering */

static int64_t lockstep_moment(const lockstep_values *values, const char *name) {
  return lockstep_rounded(lockstep_number(values, name, 0));
}

static void lockstep_hello(const lockstep_device *device) {
  lockstep_word("{\"hello\":{\"protocol\":2,\"time\":");
  lockstep_word(device->is_virtual ? "\"virtual\"" : "\"real\"");
  if (device->name) {
    lockstep_word(",\"name\":");
    lockstep_quoted(device->name);
  }
  if (device->stimuli) {
    lockstep_word(",\"stimuli\":[");
    for (size_t index = 0; device->stimuli[index]; index++) {
      if (index) lockstep_word(",");
      lockstep_quoted(device->stimuli[index]);
    }
    lockstep_word("]");
  }
  if (device->more && *device->more) {
    lockstep_word(",");
    lockstep_word(device->more);
  }
  lockstep_word("}}\n");
}

static void lockstep_perform(const lockstep_device *device, const lockstep_values *request, const lockstep_values *inner) {
  static lockstep_values none;
  const struct lockstep_value *name;
  if ((name = lockstep_find(request, "stimulus"))) {
    int is_known = !device->stimuli;
    for (size_t index = 0; !is_known && device->stimuli[index]; index++) {
      is_known = !strcmp(device->stimuli[index], name->text);
    }
    if (!is_known || !device->stimulus) {
      lockstep_refuse("there is no such stimulus");
    } else {
      device->stimulus(name->text, lockstep_find(request, "arguments") ? inner : &none);
    }
  } else if ((name = lockstep_find(request, "fault"))) {
    if (device->fault) device->fault(name->text, request);
    else lockstep_refuse("there is no such fault");
  } else if (lockstep_find(request, "reset")) {
    lockstep_.timer_count = 0;
    lockstep_.now = 0;
    lockstep_.epoch = lockstep_clock();
    lockstep_.seed = strtoull(lockstep_text(request, "seed", "0"), NULL, 10);
    if (device->reset) device->reset(inner);
  }
}

static void lockstep_answer(const lockstep_device *device, char *line) {
  static struct lockstep_values request, inner;
  request.count = inner.count = 0;
  /* Only a greeting says what the program is to be, where that is no device. */
  int is_other = !strncmp(line, "{\"hello\"", 8) && strstr(line, "\"role\":") != NULL;
  lockstep_object(line, &request, &inner);
  lockstep_.is_asked = 1;
  if (lockstep_find(&request, "at")) lockstep_.now = lockstep_moment(&request, "at");
  if (lockstep_find(&request, "hello") && !is_other) lockstep_hello(device);
  if (is_other) {
    lockstep_.is_performing = 1;
    lockstep_refuse("this program is a device, and is used as a driver or a peripheral");
    lockstep_.is_performing = 0;
  } else if (lockstep_find(&request, "advance")) {
    lockstep_advance(lockstep_.now + lockstep_moment(&request, "advance"));
  } else {
    lockstep_.is_performing = 1;
    lockstep_perform(device, &request, &inner);
    lockstep_.is_performing = 0;
    lockstep_fire(lockstep_time());
  }
  if (lockstep_.refusal) {
    lockstep_word("{\"refused\":");
    lockstep_quoted(lockstep_.refusal);
    free(lockstep_.refusal);
    lockstep_.refusal = NULL;
  } else {
    lockstep_word("{\"settled\":true");
  }
  if (device->is_virtual) {
    struct lockstep_timer *next = lockstep_next();
    lockstep_word(",\"next\":");
    if (next) lockstep_seconds(next->due);
    else lockstep_word("null");
  }
  lockstep_word("}\n");
  lockstep_flush();
  lockstep_.is_asked = 0;
}

/* Waits for a line or a timer, by the clock. */
static void lockstep_wait(void) {
  struct pollfd input = {0, POLLIN, 0};
  struct lockstep_timer *next;
  for (;;) {
    int64_t left = (next = lockstep_next()) ? next->due - lockstep_time() : -1;
    if (next && left < 0) left = 0;
    if (poll(&input, 1, next ? (int)(left / 1000000 + (left % 1000000 != 0)) : -1) > 0) return;
    lockstep_fire(lockstep_time());
    lockstep_flush();
  }
}

int lockstep_run(const lockstep_device *device) {
  lockstep_.device = device;
  lockstep_.output = fcntl(1, F_DUPFD_CLOEXEC, 3);
  dup2(2, 1);
  /* What was printed before, as far as it has not left. */
  fflush(stdout);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (;;) {
    if (!device->is_virtual) lockstep_wait();
    lockstep_.input = (char *)lockstep_grow(lockstep_.input, &lockstep_.input_room, lockstep_.input_size + 4096, 1);
    ssize_t count = read(0, lockstep_.input + lockstep_.input_size, lockstep_.input_room - lockstep_.input_size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? 0 : 1;
    lockstep_.input_size += (size_t)count;
    char *begin = lockstep_.input, *end;
    while ((end = (char *)memchr(begin, '\n', (size_t)(lockstep_.input + lockstep_.input_size - begin)))) {
      *end = 0;
      lockstep_answer(device, begin);
      begin = end + 1;
    }
    lockstep_.input_size -= (size_t)(begin - lockstep_.input);
    memmove(lockstep_.input, begin, lockstep_.input_size);
  }
}

#endif
