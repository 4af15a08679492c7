import Conformance
public import Basics
import Documents

/// The grammar of `bench.yaml`, described once: the reader and the JSON Schema both use it.
enum InventoryGrammar {
  /// A name, as used on command lines and in file names.
  static let name = Form.pattern("^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
  static let day = Form.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
  static let percentage = Form.pattern("^(100|[0-9]{1,2}) ?%$")
  static let busPath = Form.pattern(#"^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3})*$"#)

  static let dongleRules: [Form.Rule] = [.one(["transport", "path"]), .needs("serial", "transport")]
  static let lockRules: [Form.Rule] = [
    .one(["file", "device"]), .needs("control", "file"), .needs("dongles", "file"),
  ]
  static let quarantineRules: [Form.Rule] = [.some(["scenario", "lock"])]
}

extension InventoryGrammar {
  /// The keys of the file.
  ///
  /// - Parameter guarded: the stimuli that need a permission. A driver declares its lock's own.
  static func bench(guarded: [String]) -> [Form.Field] {
    [
      .required("bench", name, "The name of the bench."),
      .optional(
        "dongles", .list(.record(dongle, dongleRules)),
        "The Bluetooth controllers, in the order in which Lockstep tries them."),
      .optional(
        "switches", .list(.record(powerSwitch, [])), "The switches that turn the power of dongles off and on."
      ),
      .required("locks", .list(.record(lock(guarded: guarded), lockRules)), "The locks."),
      .optional(
        "quarantine", .list(.record(quarantine, quarantineRules)),
        "Cases that are known to fail. They still run and are reported, but fail no run until their entry "
          + "expires."),
    ]
  }

  /// The keys of a dongle.
  static let dongle: [Form.Field] = [
    .required("name", name, "The name of the dongle."),
    .optional("transport", .text, "The transport to it, as for --transport: `usb:0A12:0001`."),
    .optional("serial", .value, "The serial number of a USB dongle whose transport is `usb:VENDOR:PRODUCT`."),
    .optional(
      "path", busPath, "Where a USB dongle is plugged in, instead of a transport: bus and ports, `1-2.3`."),
    .optional("power", name, "The name of its power switch."),
  ]

  /// The keys of a switch.
  static let powerSwitch: [Form.Field] = [
    .required("name", name, "The name of the switch."),
    .required("off", .text, "The command that turns power off."),
    .required("on", .text, "The command that turns power on."),
    .optional("check", .text, "A command that exits with 0 while the power is on."),
    .optional("settle", .duration, "How long the power needs to fall and to come back; 3 s by default."),
  ]

  /// The keys of a lock.
  static func lock(guarded: [String]) -> [Form.Field] {
    [
      .required("name", name, "The name of the lock, for --device lock:NAME."),
      .optional(
        "file", .text,
        "The lock file of mode 0600 with its description and its key, relative to the folder of this file."),
      .optional(
        "device", .pattern("^(emulator|driver|exec):.+"),
        "A simulated lock, instead of a file: `emulator:sesame5?defect=deaf-unlock`, "
          + "`driver:COMMAND?peripheral=COMMAND`, `exec:COMMAND`. Commands run in the folder of this file."),
      .optional(
        "control", .pattern("^unix:.+"),
        "The socket of the emulator that simulates the lock of the file, as for --control."),
      .optional("firmware", .value, "The version of its firmware."),
      .optional(
        "park", .words(ParkPosition.allCases.map(\.rawValue)),
        "The position in which a run leaves it; locked by default."),
      .optional("tags", .list(name), "Words with which to select it."),
      .optional("dongles", .list(name), "The names of the dongles that reach it; all by default."),
      .optional(
        "allow", .list(.either([.words(guarded), .text])),
        "The requests that are allowed although they change the lock permanently, as for --allow. A "
          + "driver has its own names."),
      .optional("limits", .record(limits, []), "The safety limits of its motor and its battery."),
    ]
  }

  /// The keys of limits.
  static let limits: [Form.Field] = [
    .optional(
      "gap", .duration, "The minimum time from one movement of the motor to the next; 2 s by default."),
    .optional("per-hour", .wholeNumber(1...1_000_000), "The maximum number of movements per hour."),
    .optional(
      "per-shift", .wholeNumber(1...1_000_000), "The maximum number of movements in any twelve hours."),
    .optional("cool-down", .duration, "How long the motor rests after a jam or a stall; 5 min by default."),
    .optional(
      "battery-floor", percentage, "The battery level below which the lock is not used, such as `20 %`."),
    .optional(
      "battery-slope", percentage, "How much of its battery level the lock may lose per hour, such as `5 %`."),
  ]

  /// The keys of an entry of the quarantine.
  static let quarantine: [Form.Field] = [
    .optional(
      "scenario", .text, "The scenario, or a folder of scenarios, as reports name it; all by default."),
    .optional("lock", name, "The lock; all by default."),
    .required("reason", .text, "Why."),
    .required("owner", .text, "The person who is responsible for it."),
    .required("expires", day, "The last day on which the entry is valid, in UTC: 2026-12-01."),
  ]
}

extension Inventory {
  /// The JSON Schema (draft-07) of `bench.yaml`, as editors read it.
  ///
  /// - Parameter guarded: the stimuli of all families built in that need a permission.
  public static func schema(guarded: [String]) -> JSON {
    Form.mapping(InventoryGrammar.bench(guarded: guarded), others: nil).schema(
      title: "A bench of Lockstep",
      summary: "The dongles and locks of one computer, and their permissions and limits.")
  }
}
