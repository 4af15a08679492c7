import Automata
import Basics

// Autolock, and when a new time applies that is set while the bolt rests unlocked.

extension MachineDefinition {
  /// Adds autolock, whose time runs while the bolt rests unlocked, whether or not a client is connected.
  ///
  /// It may act two seconds early: a lock that counts whole seconds is off by one, and its clock by another second in
  /// half an hour. It may be later, because the motor runs for a while and the report comes after that.
  mutating func addAutolock() {
    // swift-format-ignore
    add(table: """
      | action/status                        | unlocked | unlocked (found) | moved  |
      |:------------------------------------:|:--------:|:----------------:|:------:|
      | autolocked given autolock unless jam or tampering or absent within autolock - 2 s to autolock + 6 s | locked | locked | |
      | autolocked given autolock unless jam within autolock - 2 s to forever | locked | | |
      | autolocked given autolock unless jam |          | locked           | locked |
      | stalled given jam                    | moved    | moved            |        |
      """, region: "configured", origin: .ours)
    // swift-format-ignore
    add(table: """
      | action/status               | unlocked (configured)/unlocked (found) |
      |:---------------------------:|:--------------------------------------:|
      | setAutolock option at-once  | unlocked (configured)                  |
      """, origin: .ours)
  }

  /// Adds the behaviour of locks that apply a new time from the next unlocking on.
  ///
  /// Each state of a configured lock has a copy, `(late …)`: a time was set that may not apply yet. Under the
  /// previous time, the bolt may be locked at any time, but need not be. If autolock was off before, the bolt stays:
  /// `unlocked (waiting)`. The lock obeys a command after an earlier setting of the same client, but what a hand does
  /// meanwhile may come first.
  mutating func addLateAutolock() {
    let configured = states.map(\.name).filter(Self.isConfigured)
    let waiting = "unlocked (waiting)"
    states += configured.map { State(Self.lateName(of: $0)) } + [State(waiting)]
    let rows = transitions
    for row in rows where row.trigger != .event("setAutolock") && row.window.plus == nil {
      guard case .states(let sources) = row.from else { continue }
      for source in sources where configured.contains(source) {
        transitions.append(lateRow(row, from: source, as: Self.lateName(of: source)))
        let isAutolock = [.event("autolocked"), .event("stalled")].contains(row.trigger)
        if source == "unlocked (configured)", !isAutolock {
          transitions.append(lateRow(row, from: source, as: waiting))
        }
      }
    }
    addCommandsAfterSetting(rows)
    addLateSettings(configured)
    // swift-format-ignore
    add(table: """
      | action/status                        | \(Self.lateName(of: "unlocked (configured)")) |
      |:------------------------------------:|:------------------------------------:|
      | autolocked given autolock unless jam | locked (late configured)             |
      """, origin: .ours)
    for shown in ["locked", "moved"] {
      transitions.append(
        Transition(
          .timer, from: .states(["\(shown) (late configured)"]), to: .states(["\(shown) (configured)"]),
          window: .after(.seconds(6)), origin: .ours))
    }
  }

  /// Adds commands right after a time was set, `(soon …)`: the lock receives the command after the setting, but what
  /// a hand does may still come first.
  private mutating func addCommandsAfterSetting(_ rows: [Transition]) {
    let motions = [
      "locked (to unlocked)", "locked (then to unlocked)", "moved (to unlocked)", "moved (then to unlocked)",
    ]
    let ends = SesameEvents.hand + ["disconnect", "linkLost", "linkClosed", "gaveUp"]
    states += motions.map { State(Self.pendingName(of: $0)) }
    for index in transitions.indices {
      guard
        transitions[index].from == .states(["locked (late configured)"])
          || transitions[index].from == .states(["moved (late configured)"]),
        case .states(let names) = transitions[index].to
      else { continue }
      transitions[index].to = .states(names.map { motions.contains($0) ? Self.pendingName(of: $0) : $0 })
    }
    for row in rows {
      guard case .states(let sources) = row.from else { continue }
      for source in sources where motions.contains(source) {
        let isEnd = ends.contains { row.trigger == .event($0) }
        var copy = isEnd ? lateRow(row, from: source, as: Self.pendingName(of: source)) : row
        copy.from = .states([Self.pendingName(of: source)])
        if case .states(let names) = copy.to {
          copy.to = .states(names.map { motions.contains($0) ? Self.pendingName(of: $0) : $0 })
        }
        copy.origin = .ours
        transitions.append(copy)
      }
    }
    for motion in motions {
      transitions.append(
        Transition(
          .event("setAutolock"), from: .states([Self.pendingName(of: motion)]),
          to: .states([Self.lateName(of: motion)]),
          options: ["next-unlocking"], origin: .ours))
    }
  }

  /// Returns the name of the copy of a motion for a command right after a time was set.
  private static func pendingName(of state: String) -> String {
    let status = State.status(of: state)
    return "\(status) (soon \(state.dropFirst(status.count + 2))"
  }

  /// Adds the rows that set a time that may not apply yet, and the rows in which a further setting changes nothing.
  private mutating func addLateSettings(_ configured: [String]) {
    for index in transitions.indices where transitions[index].trigger == .event("setAutolock") {
      guard case .states(let sources) = transitions[index].from else { continue }
      for source in sources where configured.contains(source) && !Self.counting.contains(source) {
        let next = Transition(
          .event("setAutolock"), from: .states([source]), to: .states([Self.lateName(of: source)]),
          options: ["next-unlocking"], origin: .ours)
        transitions.append(next)
        transitions.append(
          Transition(
            .event("setAutolock"), from: .states([Self.lateName(of: source)]), to: .stay, origin: .ours))
      }
    }
    // swift-format-ignore
    add(table: """
      | action/status                                     | unlocked (configured)/unlocked (found) | unlocked (late configured)/unlocked (late found) | unlocked (waiting) |
      |:-------------------------------------------------:|:---------------------------:|:------------------:|:-:|
      | setAutolock unless autolock option next-unlocking | unlocked (waiting)          |                    |   |
      | setAutolock given autolock option next-unlocking  | unlocked (late configured)  |                    |   |
      | setAutolock unless autolock                       |                             | unlocked (waiting) |   |
      | setAutolock given autolock                        |                             | =                  |   |
      | setAutolock                                       |                             |                    | = |
      """, origin: .ours)
  }

  /// Returns a copy of a row for a time that may not apply yet.
  private func lateRow(_ row: Transition, from source: String, as late: String) -> Transition {
    var copy = row
    copy.from = .states([late])
    copy.origin = .ours
    // A command from a position other than unlocked leads to an unlocking after the setting.
    let isCommand = ["lock", "unlock", "toggle"].contains { row.trigger == .event($0) }
    guard !(isCommand && ["locked (configured)", "moved (configured)"].contains(source)) else { return copy }
    let renamed = { (name: String) in Self.isConfigured(name) ? Self.lateName(of: name) : name }
    switch row.to {
    case .states(let names): copy.to = .states(names.map(renamed))
    case .shift(let names): copy.to = .shift(names.map(renamed))
    case .stay: break
    }
    return copy
  }

  /// The states in which the bolt rests unlocked, so that the autolock time runs.
  static let counting = ["unlocked (configured)", "unlocked (found)"]

  /// Returns the name of the copy of a state for a time that may not apply yet.
  private static func lateName(of state: String) -> String {
    let status = State.status(of: state)
    return "\(status) (late \(state.dropFirst(status.count + 2))"
  }

  /// Returns whether a lock in a state is configured, or may be by now.
  private static func isConfigured(_ state: String) -> Bool {
    let isSession = ["locked", "unlocked", "moved"].contains(State.status(of: state))
    return isSession || state.hasSuffix(" (configured)") || state.hasSuffix(" (seeking configured)")
      || state == "logining (by hand)" || state.hasPrefix("nosetting (configuring")
  }
}
