public import System
public import Journal
public import Basics

/// The devices of a bench as text: a line for each, followed by its details.
public struct DevicesText {
  private let paint: Painter

  public init(_ paint: Painter) { self.paint = paint }

  /// One line for each device; names are escaped.
  public func text(
    of devices: [DeviceState], _ quarantine: [Quarantined], bench: BenchFile
  ) -> String {
    var lines = [paint(.strong, bench.inventory.name) + "   " + paint(.faint, bench.path)]
    let width = (devices.map(\.name.inOneLine.count).max() ?? 0) + 3
    for kind in [DeviceState.Kind.dongle, .lock] {
      let own = devices.filter { $0.kind == kind }
      if !own.isEmpty { lines.append(paint(.faint, "\(kind.rawValue)s")) }
      for device in own {
        let words = words(for: device, on: bench)
        lines.append("  " + device.name.inOneLine.leftAligned(in: width) + words[0])
        lines += words.dropFirst().map { spaces(2 + width) + $0 }
      }
    }
    if !quarantine.isEmpty { lines.append(paint(.faint, "quarantine of every lock")) }
    for item in quarantine { lines.append("  " + words(for: item)) }
    return lines.map(\.inOneLine).joined(separator: "\n")
  }

  private func words(for device: DeviceState, on bench: BenchFile) -> [String] {
    var lines: [String]
    let word = device.use.words
    switch device.use {
    case .available: lines = [paint(.good, word) + "   " + paint(.faint, device.place)]
    case .held(let holder): lines = [paint(.warning, word) + "   by \(holder)"]
    case .outOfUse(let reason):
      lines = [
        paint(.bad, word) + "   since \(reason.since): \(reason.reason)",
        paint(.faint, bench.restoring(device.name)),
      ]
    case .unknown(let reason): lines = [paint(.bad, word) + "   \(reason)"]
    }
    if device.use == .available, let last = device.failures.last {
      lines.append(paint(.warning, "failed") + "   at \(last.time): \(last.reason)")
    }
    if let wear = device.wear { lines += words(for: wear) }
    return lines + device.quarantine.map { words(for: $0) }
  }

  private func words(for wear: DeviceState.Wear) -> [String] {
    func share(_ used: Int, _ limit: Int?) -> String { "\(used)" + (limit.map { " of \($0)" } ?? "") }
    let limits = wear.limits
    var lines = [
      "\(wear.total) movements, \(share(wear.hour, limits.perHour)) in the last hour, "
        + "\(share(wear.shift, limits.perShift)) in the last twelve hours"
        + (wear.battery.map { "; battery \($0) %" } ?? "")
    ]
    if let pendingPark = wear.pendingPark {
      lines.append(paint(.bad, "not parked") + "   \(pendingPark): the next run on it does that first")
    }
    if let cooling = wear.cooling { lines.append(paint(.warning, "jammed") + "   \(cooling)") }
    if let worn = wear.worn { lines.append(paint(.warning, "worn") + "   \(worn)") }
    if let low = wear.low { lines.append(paint(.warning, "low") + "   \(low)") }
    return lines
  }

  private func words(for item: Quarantined) -> String {
    let what = item.entry.scenario.map { "\($0), " } ?? ""
    return switch item.status {
    case .active: paint(.warning, "quarantined") + "   \(what)\(item.entry)"
    case .lapsed: paint(.bad, "quarantine expired") + "   \(what)\(item.entry)"
    }
  }
}

// MARK: - As data

extension DeviceState {
  /// The device as a line of `--format json`.
  public var json: JSON {
    .mapping((Self.fields(of: kind) + Self.wearFields + [Self.quarantineField]).members(of: self))
  }

  /// The JSON Schema of a line.
  public static var shape: JSON {
    Shape.any(
      Shape.object(fields(of: .dongle) + [quarantineField]),
      Shape.object(fields(of: .lock) + [quarantineField] + wearFields),
      Shape.object(["quarantine": Quarantined.shape]))
  }

  /// The fields of every device.
  private static func fields(of kind: Kind) -> [Field<Self>] {
    let states = Shape.words("available", "held", "out-of-use", "unknown")
    return [
      .derived(kind.rawValue, \.name, .text), .known("identity", \.identity, .text),
      .derived("place", \.place, .text), .derived("state", \.use.data.state, .text(states)),
      .known("holder", \.use.holder, .object()),
      .known("since", { $0.use.data.since?.description }, .text(Shape.moment)),
      .known("reason", \.use.data.reason, .text), .derived("failures", \.failures.count, .count),
    ]
  }

  /// The fields of a lock that has a motor.
  private static let wearFields: [Field<Self>] = [
    .known("movements", \.wear, .object()), .known("battery", { $0.wear?.battery }, .count),
    .known("owed", { $0.wear?.pendingPark?.description }, .text),
    .known("worn", { $0.wear?.worn?.description }, .text),
    .known("jammed", { $0.wear?.cooling?.description }, .text),
    .known("low", { $0.wear?.low?.description }, .text),
  ]

  private static let quarantineField = Field<Self>.list("quarantine", \.quarantine, .object())
}

extension DeviceState.Use {
  /// Whether the device is leased.
  var isHeld: Bool { holder != nil }

  fileprivate var holder: LeaseHolder? { if case .held(let holder) = self { holder } else { nil } }

  /// The state as text.
  public var words: String {
    switch self {
    case .available: "available"
    case .held: "held"
    case .outOfUse: "out of use"
    case .unknown: "unknown"
    }
  }

  /// The state as data, with the reason and the time.
  fileprivate var data: (state: String, reason: String?, since: WallTime?) {
    switch self {
    case .available: ("available", nil, nil)
    case .held: ("held", nil, nil)
    case .outOfUse(let reason): ("out-of-use", reason.reason, reason.since)
    case .unknown(let reason): ("unknown", reason, nil)
    }
  }
}

extension DeviceState.Wear: Written {
  public static let fields: [Field<Self>] = [
    .derived("total", \.total, .count), .derived("hour", \.hour, .count), .derived("shift", \.shift, .count),
    .known("perHour", \.limits.perHour, .count), .known("perShift", \.limits.perShift, .count),
  ]
}

extension LeaseHolder: Written {
  public static let fields: [Field<Self>] = [
    .derived("process", { Int($0.process) }, .count), .derived("host", \.host, .text),
    .derived("since", \.since, .text), .derived("command", \.command, .text),
    .derived("lease", \.token, .seed),
  ]
}

extension Quarantined: Written {
  public static let fields: [Field<Self>] = [
    .known("scenario", \.entry.scenario, .text), .derived("reason", \.entry.reason, .text),
    .derived("owner", \.entry.owner, .text), .derived("expires", \.entry.expires.description, .text),
    .derived("status", \.status, .words()),
  ]
}
