public import Basics

extension DeviceHealth {
  /// The record as JSON: `health/NAME.json`.
  ///
  /// ```json
  /// {
  ///   "identity": "usb:1-2.3",
  ///   "name": "blue",
  ///   "lastPass": "2026-11-22T01:00:00.000Z",
  ///   "failures": [{"time": "2026-11-22T03:00:00.000Z", "reason": "…", "other": "5c2a2f49-…"}],
  ///   "outOfUse": {"since": "2026-11-22T03:10:00.000Z", "reason": "…"}
  /// }
  /// ```
  public func json(_ identity: String) -> JSON {
    let list = failures.map { failure -> JSON in
      .known([
        "time": .text("\(failure.time)"), "reason": .text(failure.reason),
        "other": failure.other.map(JSON.text),
      ])
    }
    return .known([
      "identity": .text(identity), "name": name.map(JSON.text), "lastPass": lastPass.map { .text("\($0)") },
      "failures": list.isEmpty ? nil : .list(list),
      "outOfUse": outOfUse.map { ["since": .text("\($0.since)"), "reason": .text($0.reason)] },
    ])
  }

  /// Reads a record and whose it is; `nil` for what is none.
  public static func read(_ json: JSON) -> (identity: String, health: DeviceHealth)? {
    guard let identity = json["identity"]?.string else { return nil }
    var health = DeviceHealth()
    health.name = json["name"]?.string
    if let pass = json["lastPass"] {
      guard let time = time(pass) else { return nil }
      health.lastPass = time
    }
    switch json["failures"] {
    case nil: break
    case .list(let items)?:
      for item in items {
        guard let time = time(item["time"]), let reason = item["reason"]?.string else { return nil }
        health.failures.append(Failure(time: time, reason: reason, other: item["other"]?.string))
      }
    case .some: return nil
    }
    if let out = json["outOfUse"] {
      guard let since = time(out["since"]), let reason = out["reason"]?.string else { return nil }
      health.outOfUse = OutOfUse(since: since, reason: reason)
    }
    return (identity, health)
  }

  private static func time(_ json: JSON?) -> WallTime? { json?.string.flatMap { WallTime(text: $0) } }
}
