import Documents
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
    var members: [JSON.Member] = [.init(kind.rawValue, .text(name))]
    if let identity { members.append(.init("identity", .text(identity))) }
    members.append(.init("place", .text(place)))
    switch use {
    case .free: members.append(.init("state", "free"))
    case .held(let holder):
      members.append(.init("state", "held"))
      members.append(
        .init(
          "holder",
          [
            "process": .integer(holder.process), "host": .text(holder.host), "since": .text(holder.since),
            "command": .text(holder.command), "lease": .integer(holder.token),
          ]))
    case .outOfUse(let reason):
      members.append(.init("state", "out-of-use"))
      members.append(.init("since", .text("\(reason.since)")))
      members.append(.init("reason", .text(reason.reason)))
    case .unknown(let reason):
      members.append(.init("state", "unknown"))
      members.append(.init("reason", .text(reason)))
    }
    members.append(.init("failures", .integer(failures.count)))
    if let wear { members += wear.members }
    if !quarantine.isEmpty {
      members.append(.init("quarantine", .list(quarantine.map { $0.entry.json($0.status) })))
    }
    return .mapping(members)
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
  fileprivate var members: [JSON.Member] {
    var movements: [JSON.Member] = [
      .init("total", .integer(total)), .init("hour", .integer(hour)), .init("night", .integer(night)),
    ]
    if let budget = limits.perHour { movements.append(.init("perHour", .integer(budget))) }
    if let budget = limits.perNight { movements.append(.init("perNight", .integer(budget))) }
    var members: [JSON.Member] = [.init("movements", .mapping(movements))]
    if let battery { members.append(.init("battery", .integer(battery))) }
    if let worn { members.append(.init("worn", .text("\(worn)"))) }
    if let low { members.append(.init("low", .text("\(low)"))) }
    return members
  }
}

extension Quarantine {
  func json(_ status: Status) -> JSON {
    var members: [JSON.Member] = []
    if let scenario { members.append(.init("scenario", .text(scenario))) }
    members += [
      .init("reason", .text(reason)), .init("owner", .text(owner)), .init("expires", .text("\(expires)")),
      .init("status", .text(status.rawValue)),
    ]
    return .mapping(members)
  }

  static var shape: JSON {
    Shape.object(
      [
        "reason": Shape.text, "owner": Shape.text, "expires": Shape.text,
        "status": Shape.words("active", "lapsed"),
      ], optional: ["scenario": Shape.text])
  }
}
