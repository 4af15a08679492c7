import Lab
import Basics
import Transports

/// The devices of a bench for people: a line for each, and below it what there is to say beside its state.
struct DevicesText {
  private let paint: Painter

  init(_ paint: Painter) { self.paint = paint }

  func text(
    of devices: [DeviceState], _ quarantine: [(entry: Quarantine, status: Quarantine.Status)],
    bench: BenchFile
  ) -> String {
    var lines = [paint(.strong, bench.inventory.name) + "   " + paint(.faint, bench.path)]
    let width = (devices.map(\.name.count).max() ?? 0) + 3
    for kind in [DeviceState.Kind.dongle, .lock] {
      let own = devices.filter { $0.kind == kind }
      if !own.isEmpty { lines.append(paint(.faint, "\(kind.rawValue)s")) }
      for device in own {
        lines.append("  " + device.name.leftAligned(in: width) + words(for: device)[0])
        lines += words(for: device).dropFirst().map { spaces(2 + width) + $0 }
      }
    }
    if !quarantine.isEmpty { lines.append(paint(.faint, "quarantine of every lock")) }
    for item in quarantine { lines.append("  " + words(for: item)) }
    return lines.joined(separator: "\n")
  }

  private func words(for device: DeviceState) -> [String] {
    var lines: [String]
    switch device.use {
    case .free: lines = [paint(.good, "free") + "   " + paint(.faint, device.place)]
    case .held(let holder):
      lines = [paint(.warning, "held") + "   by \(holder)"]
    case .outOfUse(let reason):
      lines = [
        paint(.bad, "out of use") + "   since \(reason.since): \(reason.reason)",
        paint(.faint, "lockstep devices restore \(device.name)"),
      ]
    case .unknown(let reason): lines = [paint(.bad, "unknown") + "   \(reason)"]
    }
    if case .free = device.use, let last = device.failures.last {
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
        + "\(share(wear.night, limits.perNight)) in the last twelve"
        + (wear.battery.map { "; battery \($0) %" } ?? "")
    ]
    if let worn = wear.worn { lines.append(paint(.warning, "worn") + "   \(worn)") }
    if let low = wear.low { lines.append(paint(.warning, "low") + "   \(low)") }
    return lines
  }

  private func words(for item: (entry: Quarantine, status: Quarantine.Status)) -> String {
    let what = item.entry.scenario.map { "\($0), " } ?? ""
    return switch item.status {
    case .active: paint(.warning, "quarantined") + "   \(what)\(item.entry)"
    case .lapsed: paint(.bad, "quarantine lapsed") + "   \(what)\(item.entry)"
    }
  }
}

extension DeviceState {
  /// The line of `--format json`.
  var json: JSON {
    let (state, since, reason): (JSON, WallTime?, String?) =
      switch use {
      case .free: ("free", nil, nil)
      case .held: ("held", nil, nil)
      case .outOfUse(let reason): ("out-of-use", reason.since, reason.reason)
      case .unknown(let reason): ("unknown", nil, reason)
      }
    return .known([
      kind.rawValue: .text(name), "identity": identity.map(JSON.text), "place": .text(place), "state": state,
      "holder": holder, "since": since.map { .text("\($0)") }, "reason": reason.map(JSON.text),
      "failures": .integer(failures.count), "movements": wear?.movements,
      "battery": wear?.battery.map { .integer($0) }, "worn": wear?.worn.map { .text("\($0)") },
      "low": wear?.low.map { .text("\($0)") },
      "quarantine": quarantine.isEmpty ? nil : .list(quarantine.map { $0.entry.json($0.status) }),
    ])
  }

  private var holder: JSON? {
    guard case .held(let holder) = use else { return nil }
    return [
      "process": .integer(holder.process), "host": .text(holder.host), "since": .text(holder.since),
      "command": .text(holder.command), "lease": .integer(holder.token),
    ]
  }

  /// What a line is like.
  static var shape: JSON {
    let holder = Shape.object([
      "process": Shape.count, "host": Shape.text, "since": Shape.text, "command": Shape.text,
      "lease": Shape.count,
    ])
    let common: KeyValuePairs<String, JSON> = [
      "identity": Shape.text, "holder": holder, "since": Shape.moment, "reason": Shape.text,
      "quarantine": Shape.list(Quarantine.shape),
    ]
    let wear: KeyValuePairs<String, JSON> = [
      "movements": Shape.object(
        ["total": Shape.count, "hour": Shape.count, "night": Shape.count],
        optional: ["perHour": Shape.count, "perNight": Shape.count]),
      "battery": Shape.count, "worn": Shape.text, "low": Shape.text,
    ]
    let state = Shape.words("free", "held", "out-of-use", "unknown")
    return Shape.any(
      Shape.object(
        ["dongle": Shape.text, "place": Shape.text, "state": state, "failures": Shape.count],
        optional: common),
      Shape.object(
        [
          (key: "lock", value: Shape.text), (key: "place", value: Shape.text), (key: "state", value: state),
          (key: "failures", value: Shape.count),
        ], optional: Array(common) + Array(wear)),
      Shape.object(["quarantine": Quarantine.shape]))
  }
}

extension DeviceState.Wear {
  fileprivate var movements: JSON {
    .known([
      "total": .integer(total), "hour": .integer(hour), "night": .integer(night),
      "perHour": limits.perHour.map { .integer($0) }, "perNight": limits.perNight.map { .integer($0) },
    ])
  }
}

extension Quarantine {
  func json(_ status: Status) -> JSON {
    .known([
      "scenario": scenario.map(JSON.text), "reason": .text(reason), "owner": .text(owner),
      "expires": .text("\(expires)"), "status": .text(status.rawValue),
    ])
  }

  static var shape: JSON {
    Shape.object(
      [
        "reason": Shape.text, "owner": Shape.text, "expires": Shape.text,
        "status": Shape.words("active", "lapsed"),
      ], optional: ["scenario": Shape.text])
  }
}
