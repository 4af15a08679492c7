import Conformance
public import Basics
import Documents
import LockFiles

/// The grammar of `bench.yaml`, described once: the reader and the JSON Schema both use it.
enum InventoryGrammar {
  /// A name, as used on command lines and in file names.
  static let name = Form.pattern("^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
  static let day = Form.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
  static let percentage = Form.pattern("^(100|[0-9]{1,2}) ?%$")
  static let busPath = Form.pattern(#"^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3})*$"#)

  /// The stimuli that need a permission. A driver declares its lock's own.
  static let guarded = LockFamily.allGuarded

  static let dongleRules: [Form.Rule] = [.one(["transport", "path"]), .needs("serial", "transport")]
  static let lockRules: [Form.Rule] = [
    .one(["file", "device"]), .needs("control", "file"), .needs("dongles", "file"),
  ]
  static let quarantineRules: [Form.Rule] = [.some(["scenario", "lock"])]
}

extension InventoryGrammar {
  /// The keys of the file.
  static let bench: [Form.Field] = [
    .required("bench", name, "What the bench is called."),
    .optional(
      "dongles", .list(.record(dongle, dongleRules)),
      "The ways to Bluetooth controllers, in the order in which they are tried."),
    .optional("switches", .list(.record(powerSwitch, [])), "What turns the power of dongles off and on."),
    .required("locks", .list(.record(lock, lockRules)), "The locks."),
    .optional(
      "quarantine", .list(.record(quarantine, quarantineRules)),
      "What is known to fail. It is still run and reported, and turns no run red until it lapses."),
  ]

  /// The keys of a dongle.
  static let dongle: [Form.Field] = [
    .required("name", name, "What people call the dongle."),
    .optional("transport", .text, "The way to it, as --transport takes it: `usb:0A12:0001`."),
    .optional("serial", .value, "The serial number of a USB dongle whose transport is `usb:VENDOR:PRODUCT`."),
    .optional(
      "path", busPath, "Where a USB dongle is plugged in, in place of a transport: bus and ports, `1-2.3`."),
    .optional("power", name, "The name of the switch of its power."),
  ]

  /// The keys of a switch.
  static let powerSwitch: [Form.Field] = [
    .required("name", name, "What people call the switch."),
    .required("off", .text, "The command that turns power off."),
    .required("on", .text, "The command that turns power on."),
    .optional("check", .text, "A command that ends with 0 while there is power."),
    .optional("settle", .duration, "How long power needs to fall and to come back; 3 s unless given."),
  ]

  /// The keys of a lock.
  static let lock: [Form.Field] = [
    .required("name", name, "What people call the lock: --device lock:NAME."),
    .optional(
      "file", .text,
      "The file of mode 0600 that describes it and holds its key, from the folder of this file."),
    .optional(
      "device", .pattern("^(emulator|driver|exec):.+"),
      "A lock that is played here, in place of a file: `emulator:sesame5?defect=deaf-unlock`, "
        + "`driver:COMMAND?peripheral=COMMAND`, `exec:COMMAND`. Commands run in the folder of this file."),
    .optional(
      "control", .pattern("^unix:.+"),
      "The socket of the emulator that plays the lock of the file, as --control takes it."),
    .optional("firmware", .value, "The firmware that it runs."),
    .optional(
      "park", .words(ParkPosition.allCases.map(\.rawValue)), "Where it is left; locked unless given."),
    .optional("tags", .list(name), "Words to select it by."),
    .optional("dongles", .list(name), "The names of the dongles that reach it; all unless given."),
    .optional(
      "allow", .list(.either([.words(guarded), .text])),
      "What it may be asked that changes what it is, as --allow takes it. A driver has words of its own."),
    .optional("limits", .record(limits, []), "What its motor, its battery and its door are owed."),
  ]

  /// The keys of limits.
  static let limits: [Form.Field] = [
    .optional(
      "gap", .duration, "The least time from one movement of the motor to the next; 2 s unless given."),
    .optional("per-hour", .wholeNumber(1...1_000_000), "How many movements an hour may see."),
    .optional("per-shift", .wholeNumber(1...1_000_000), "How many movements twelve hours on end may see."),
    .optional("cool-down", .duration, "How long the motor rests after a jam or a stall; 5 min unless given."),
    .optional("battery-floor", percentage, "The battery below which the lock is left alone, as in `20 %`."),
    .optional(
      "battery-slope", percentage, "How much of its battery the lock may lose in an hour, as in `5 %`."),
  ]

  /// The keys of an entry of the quarantine.
  static let quarantine: [Form.Field] = [
    .optional(
      "scenario", .text, "The scenario, or a folder of them, as reports name it; every one unless given."),
    .optional("lock", name, "The lock; every one unless given."),
    .required("reason", .text, "Why."),
    .required("owner", .text, "Who sees to it."),
    .required("expires", day, "The last day on which it holds, in UTC: 2026-12-01."),
  ]
}

extension Inventory {
  /// The JSON Schema (draft-07) of `bench.yaml`, as editors read it.
  public static var schema: JSON {
    Form.mapping(InventoryGrammar.bench, others: nil).schema(
      title: "A bench of Lockstep",
      summary: "The dongles and locks of one machine, and what may be asked of them.")
  }
}
