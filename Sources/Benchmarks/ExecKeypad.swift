import Devices
import System

/// A keypad lock with three timers as a program, for the pace of programs in virtual time: it is the same in each language.
struct ExecKeypad {
  /// The program.
  let program: String
  /// What stands in its folder: the machine, the program, and the file that speaks the lines.
  private let files: [(name: String, text: String)]

  /// Writes it into a new folder.
  func write(to folder: String) throws(FileFault) {
    try makeFolder(folder)
    for file in files { try WholeFile.replace(folder + "/" + file.name, with: file.text) }
  }

  private init(_ language: String, _ name: String, _ program: String) {
    self.program = program
    files =
      [("keypad.yaml", Self.machine), (name, program)]
      + Binding.all.filter { $0.language == language }.map { ($0.fileName, $0.text) }
  }

  static let python = ExecKeypad(
    "python", "keypad.py",
    """
    import lockstep_device

    lock = lockstep_device.Device("keypad", time="virtual", readings=["battery"], effects=True, moves=["enter"])

    @lock.reset
    def reset():
        lock.wrong, lock.timer = 0, None
        turn("Locked")

    def turn(state, back_after=None):
        if lock.timer: lock.timer.cancel()
        lock.timer = lock.after(back_after, lambda: turn("Locked")) if back_after else None
        lock.wrong = 0
        lock.state = state
        lock.show(state)

    @lock.stimulus
    def enter():
        if lock.state != "Locked": lock.refuse("it is %s" % lock.state)
        turn("Unlocked", 5.0)

    @lock.stimulus
    def enterWrong():
        if lock.state != "Locked": lock.refuse("it is %s" % lock.state)
        lock.effect("buzz")
        lock.wrong += 1
        if lock.wrong == 3: turn("LockedOut", 30.0)
        else:
            if lock.timer: lock.timer.cancel()
            lock.timer = lock.after(60.0, forget)

    def forget():
        lock.wrong = 0

    @lock.stimulus
    def readBattery():
        lock.reading("battery", 5.9)

    lock.run()
    """)

  static let c = ExecKeypad(
    "c", "keypad.c",
    #"""
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
    """#)

  static let machine = """
    machine: keypad
    states:
      - Locked
      - { name: OneWrong, status: Locked }
      - { name: TwoWrong, status: Locked }
      - Unlocked
      - LockedOut
    events:
      - enter
      - enterWrong
      - readBattery
    readings: { battery: number }
    starts:
      - { state: Locked }
    transitions:
      - { event: enter, from: [Locked, OneWrong, TwoWrong], to: Unlocked }
      - { event: enterWrong, from: Locked, to: OneWrong, first: [buzz] }
      - { event: enterWrong, from: OneWrong, to: TwoWrong, first: [buzz] }
      - { event: enterWrong, from: TwoWrong, to: LockedOut, first: [buzz] }
      - { from: [OneWrong, TwoWrong], to: Locked, after: 60 s }
      - { from: Unlocked, to: Locked, after: 5 s }
      - { from: LockedOut, to: Locked, after: 30 s }
      - { event: readBattery, from: "*", to: "=" }
    """
}
