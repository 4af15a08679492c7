#define LOCKSTEP_DEVICE
#include "lockstep_device.h"
static const char *state = "Locked";
static int wrong; static unsigned timer;
static void turn(const char *to, double back);
static void back(void *d) { (void)d; turn("Locked", 0); }
static void forget(void *d) { (void)d; wrong = 0; }
static void turn(const char *to, double after) {
  lockstep_cancel(timer); timer = 0; wrong = 0; state = to; lockstep_show(to);
  if (after > 0) timer = lockstep_after(after, back, NULL);
}
static void reset(const lockstep_values *s) { (void)s; turn("Locked", 0); }
static void stimulus(const char *name, const lockstep_values *a) {
  (void)a;
  if (!strcmp(name, "readBattery")) { lockstep_read_number("battery", 5.9); return; }
  if (strcmp(state, "Locked")) { lockstep_refuse("it is not locked"); return; }
  if (!strcmp(name, "enter")) { turn("Unlocked", 5.0); return; }
  lockstep_effect("buzz");
  if (++wrong == 3) { turn("LockedOut", 30.0); return; }
  lockstep_cancel(timer); timer = lockstep_after(60.0, forget, NULL);
}
int main(void) {
  static const char *const stimuli[] = {"enter","enterWrong","readBattery",NULL};
  static const lockstep_device lock = {.name="keypad", .is_virtual=1, .stimuli=stimuli, .more="\"readings\":[\"battery\"],\"effects\":true,\"moves\":[\"enter\"]", .reset=reset,.stimulus=stimulus};
  return lockstep_run(&lock);
}
