public import Basics
import Documents

/// What may stand in `bench.yaml`, described once: the reader takes its keys from here, and so does the JSON Schema.
enum InventoryGrammar {
  /// The keys of the file.
  enum Key: String, CaseIterable {
    case bench, dongles, switches, locks, quarantine
  }

  /// The keys of a dongle.
  enum DongleKey: String, CaseIterable {
    case name, carrier, serial, path, power
  }

  /// The keys of a switch.
  enum SwitchKey: String, CaseIterable {
    case name, off, on, check, settle
  }

  /// The keys of a lock.
  enum LockKey: String, CaseIterable {
    case name, file, device, control, firmware, rest, tags, dongles, allow, limits
  }

  /// The keys of limits.
  enum LimitKey: String, CaseIterable {
    case gap
    case perHour = "per-hour"
    case perNight = "per-night"
    case coolDown = "cool-down"
    case batteryFloor = "battery-floor"
    case batterySlope = "battery-slope"
  }

  /// The keys of an entry of the quarantine.
  enum QuarantineKey: String, CaseIterable {
    case scenario, lock, reason, owner, expires
  }

  /// A name: it stands on command lines and in the names of files.
  static let name = Form.pattern("^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
  static let day = Form.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
  static let percentage = Form.pattern("^(100|[0-9]{1,2}) ?%$")
  static let busPath = Form.pattern(#"^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3})*$"#)

  /// The stimuli of a lock that need to be allowed by name.
  static let guarded = ["reset", "register", "configure"]

  static let dongleRules: [Form.Rule] = [.one(["carrier", "path"]), .needs("serial", "carrier")]
  static let lockRules: [Form.Rule] = [
    .one(["file", "device"]), .needs("control", "file"), .needs("dongles", "file"),
  ]
  static let quarantineRules: [Form.Rule] = [.some(["scenario", "lock"])]
}

extension Inventory {
  /// The JSON Schema (draft-07) of `bench.yaml`, as editors read it.
  public static var schema: JSON {
    Form.mapping(InventoryGrammar.Key.allCases.map(\.field), others: nil).schema(
      title: "A bench of Lockstep",
      summary: "The dongles and locks of one machine, and what may be asked of them.")
  }
}

extension InventoryGrammar.Key {
  var field: Form.Field {
    switch self {
    case .bench:
      .init(
        name: rawValue, form: InventoryGrammar.name, summary: "What the bench is called.", isRequired: true)
    case .dongles:
      .init(
        name: rawValue,
        form: .list(
          .record(InventoryGrammar.DongleKey.allCases.map(\.field), InventoryGrammar.dongleRules)),
        summary: "The ways to Bluetooth controllers, in the order in which they are tried.")
    case .switches:
      .init(
        name: rawValue, form: .list(.record(InventoryGrammar.SwitchKey.allCases.map(\.field), [])),
        summary: "What turns the power of dongles off and on.")
    case .locks:
      .init(
        name: rawValue,
        form: .list(.record(InventoryGrammar.LockKey.allCases.map(\.field), InventoryGrammar.lockRules)),
        summary: "The locks.", isRequired: true)
    case .quarantine:
      .init(
        name: rawValue,
        form: .list(
          .record(InventoryGrammar.QuarantineKey.allCases.map(\.field), InventoryGrammar.quarantineRules)),
        summary: "What is known to fail. It is still run and reported, and turns no run red until it lapses.")
    }
  }
}

extension InventoryGrammar.DongleKey {
  var field: Form.Field {
    switch self {
    case .name:
      .init(
        name: rawValue, form: InventoryGrammar.name, summary: "What people call the dongle.",
        isRequired: true)
    case .carrier:
      .init(
        name: rawValue, form: .text, summary: "The way to it, as --carrier takes it: `usb:0A12:0001`.")
    case .serial:
      .init(
        name: rawValue, form: .value,
        summary: "The serial number of a USB dongle whose carrier is `usb:VENDOR:PRODUCT`.")
    case .path:
      .init(
        name: rawValue, form: InventoryGrammar.busPath,
        summary: "Where a USB dongle is plugged in, in place of a carrier: bus and ports, `1-2.3`.")
    case .power:
      .init(name: rawValue, form: InventoryGrammar.name, summary: "The name of the switch of its power.")
    }
  }
}

extension InventoryGrammar.SwitchKey {
  var field: Form.Field {
    switch self {
    case .name:
      .init(
        name: rawValue, form: InventoryGrammar.name, summary: "What people call the switch.",
        isRequired: true)
    case .off:
      .init(name: rawValue, form: .text, summary: "The command that turns power off.", isRequired: true)
    case .on:
      .init(name: rawValue, form: .text, summary: "The command that turns power on.", isRequired: true)
    case .check:
      .init(name: rawValue, form: .text, summary: "A command that ends with 0 while there is power.")
    case .settle:
      .init(
        name: rawValue, form: .duration,
        summary: "How long power needs to fall and to come back; 3 s unless given.")
    }
  }
}

extension InventoryGrammar.LockKey {
  var field: Form.Field {
    switch self {
    case .name:
      .init(
        name: rawValue, form: InventoryGrammar.name,
        summary: "What people call the lock: --device lock:NAME.", isRequired: true)
    case .file:
      .init(
        name: rawValue, form: .text,
        summary: "The file of mode 0600 that describes it and holds its key, from the folder of this file.")
    case .device:
      .init(
        name: rawValue, form: .pattern("^emulator:.+"),
        summary: "A lock that is played here, in place of a file: `emulator:sesame5?defect=deaf-unlock`.")
    case .control:
      .init(
        name: rawValue, form: .pattern("^unix:.+"),
        summary: "The socket of the emulator that plays the lock of the file, as --control takes it.")
    case .firmware:
      .init(name: rawValue, form: .value, summary: "The firmware that it runs.")
    case .rest:
      .init(
        name: rawValue, form: .words(RestPosition.allCases.map(\.rawValue)),
        summary: "Where it is left; locked unless given.")
    case .tags:
      .init(name: rawValue, form: .list(InventoryGrammar.name), summary: "Words to select it by.")
    case .dongles:
      .init(
        name: rawValue, form: .list(InventoryGrammar.name),
        summary: "The names of the dongles that reach it; all unless given.")
    case .allow:
      .init(
        name: rawValue, form: .list(.words(InventoryGrammar.guarded)),
        summary: "What it may be asked that changes what it is, as --allow takes it.")
    case .limits:
      .init(
        name: rawValue, form: .record(InventoryGrammar.LimitKey.allCases.map(\.field), []),
        summary: "What its motor, its battery and its door are owed.")
    }
  }
}

extension InventoryGrammar.LimitKey {
  var field: Form.Field {
    switch self {
    case .gap:
      .init(
        name: rawValue, form: .duration,
        summary: "The least time from one movement of the motor to the next; 2 s unless given.")
    case .perHour:
      .init(
        name: rawValue, form: .wholeNumber(1...1_000_000), summary: "How many movements an hour may see.")
    case .perNight:
      .init(
        name: rawValue, form: .wholeNumber(1...1_000_000), summary: "How many movements a night may see.")
    case .coolDown:
      .init(
        name: rawValue, form: .duration,
        summary: "How long the motor rests after a jam or a stall; 5 min unless given.")
    case .batteryFloor:
      .init(
        name: rawValue, form: InventoryGrammar.percentage,
        summary: "The battery below which the lock is left alone, as in `20 %`.")
    case .batterySlope:
      .init(
        name: rawValue, form: InventoryGrammar.percentage,
        summary: "How much of its battery the lock may lose in an hour, as in `5 %`.")
    }
  }
}

extension InventoryGrammar.QuarantineKey {
  var field: Form.Field {
    switch self {
    case .scenario:
      .init(
        name: rawValue, form: .text,
        summary: "The scenario, or a folder of them, as reports name it; every one unless given.")
    case .lock:
      .init(name: rawValue, form: InventoryGrammar.name, summary: "The lock; every one unless given.")
    case .reason: .init(name: rawValue, form: .text, summary: "Why.", isRequired: true)
    case .owner: .init(name: rawValue, form: .text, summary: "Who sees to it.", isRequired: true)
    case .expires:
      .init(
        name: rawValue, form: InventoryGrammar.day,
        summary: "The last day on which it holds, in UTC: 2026-12-01.",
        isRequired: true)
    }
  }
}
