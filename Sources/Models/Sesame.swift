public import Automata
import Basics

extension MachineDefinition {
  /// The Sesame tables for a lock that acts by itself: what the device does by itself is spontaneous and has
  /// deadlines.
  ///
  /// The rows *connecting*, *waitingGatt*, *registering* and *logining* of the documentation are the events `linkUp`,
  /// `gattReady`, `registered` and `loginDone`. A change of status that is one step in the documentation may take the
  /// lock some time: `lock` leads from `unlocked` to `unlocked (to locked)`, which must end as `locked` within five
  /// seconds. Tables with the origin `ours` cover what the documentation omits: a lost link, a hand on the thumbturn,
  /// autolock, reset, and the deadlines.
  ///
  /// The region in a state's name is what is known of the lock: `unregistered`, `unconfigured` (registered, positions
  /// never set), `configured`, and `orphaned` (registered with a key that was never received). A configured lock is
  /// `unlocked (found)` if the client did not see when the bolt reached this position: the autolock time may have
  /// been running for long.
  ///
  /// Evidence at the client's end of the link is an event:
  /// - `linkLost`: the link was lost, or never established.
  /// - `linkClosed`: the lock ended the link.
  /// - `tampered`: the tester removed, altered or added a frame, or cut the link.
  /// - `provoked`: the tester sent something that no client sends.
  /// - `positionsFound`: a newly registered lock reported its positions.
  ///
  /// If a device reports these events, the model relies on them. A live link does not lose, alter or reorder what the
  /// Link Layer has acknowledged (Core 5.4, Vol 6 Part B §4.5.9), so every deadline holds while it lasts.
  ///
  /// Locks differ in how they apply a new autolock time that is set while the bolt rests unlocked: `autolock-start`
  /// is a choice that each lock makes once.
  ///
  /// The conditions are:
  /// - `loss`: a link may be lost and an advertisement missed, as on real air.
  /// - `tampering`: frames were tampered with on this link. Their content, and everything that depends on the
  ///   counters of later frames, is unknown until the link ends.
  /// - `absent`: the lock may be out of reach or without power.
  /// - `jam`: the bolt is blocked.
  /// - `autolock`: autolock is set, with its time as the value. A time that is set during `tampering` or `absent` may
  ///   not have arrived.
  /// - `wrongKey`: the client cannot prove its identity.
  /// - `provocation`: the lock was just sent something that no client sends, and may end the link.
  /// - `presetPositions`: the lock reports that its positions are set as soon as it is registered. Some locks are
  ///   built this way, and some keep the positions of their last owner, which is as correct as having none.
  public static let sesame: MachineDefinition = {
    var machine = MachineDefinition(
      name: "sesame", summary: "A Sesame lock and its client, with everything that happens by itself.")
    machine.events = SesameEvents.all
    machine.readings = SesameEvents.readings
    machine.conditions = [
      Condition("loss"),
      Condition(
        "tampering",
        faults: [
          "drop", "corrupt", "duplicate", "delay", "lose-link", "inject", "write", "mutate", "reflect",
          "unsubscribe",
        ], events: ["tampered"], until: ["noSignal"]),
      // A cut link is detected two seconds later, and a lock without power has to restart.
      Condition(
        "absent", faults: ["out-of-range", "no-power"], moments: ["power-cycle"], delay: .seconds(6)),
      Condition("jam", faults: ["jam"], unsure: ["tampering", "absent"]),
      Condition(
        "autolock", stimuli: ["setAutolock", "reset"], unsure: ["tampering", "absent"],
        reading: "autolock",
        delay: .seconds(6)),
      // A proof in transit remains the one that was sent.
      Condition("wrongKey", faults: ["wrong-key", "replay-login"], countsFromEntry: true),
      Condition("provocation", moments: ["provoked"], delay: .seconds(1)),
      Condition("presetPositions", events: ["positionsFound"]),
    ]
    machine.choices = [DeviceChoice("autolock-start", ["at-once", "next-unlocking"])]
    for region in ["unregistered", "unconfigured", "configured", "orphaned"] {
      machine.addApproach(in: region)
    }
    machine.addUnregistered()
    machine.addUnconfigured()
    machine.addConfigured()
    machine.addMotion()
    machine.addHand()
    machine.addHandDuringReport()
    machine.addAutolock()
    machine.addRequests()
    machine.addReset()
    machine.addEndsOfLinks()
    machine.addLateAutolock()
    machine.declare(regions: ["unregistered", "unconfigured", "configured", "orphaned"])
    machine.starts = [
      Start("noSignal (unregistered)", when: [.init("registered", false)]),
      Start("noSignal (unconfigured)", when: [.init("registered", true), .init("configured", false)]),
      Start("noSignal (configured)", when: [.init("registered", true), .init("configured", true)]),
    ]
    machine.rules = sesameRules(of: machine)
    return machine
  }()

  /// Adds the path from a distant lock to a connected link, which is the same in every region.
  private mutating func addApproach(in region: String) {
    // swift-format-ignore
    add(table: """
      | action/status         | noSignal                  | receivedBle | connecting  |
      |:---------------------:|:-------------------------:|:-----------:|:-----------:|
      | closeTo               | noSignal (seeking \(region)) |          |             |
      | connect               |                           | connecting  |             |
      | linkUp within 30 s    |                           |             | waitingGatt |
      """, region: region)
    // swift-format-ignore
    add(table: """
      | action/status                             | noSignal (seeking \(region)) | receivedBle | connecting | waitingGatt |
      |:-----------------------------------------:|:----------------------------:|:-----------:|:----------:|:-----------:|
      | closeTo                                   | =                            |             |            |             |
      | advertised unless absent within 15 s      | receivedBle                  |             |            |             |
      | advertised given absent                   | receivedBle                  |             |            |             |
      | advertisementLost given absent or loss    |                              | noSignal    |            |             |
      | after 30 s given absent                   |                              |             | noSignal   | noSignal    |
      """, region: region, origin: .ours)
  }

  private mutating func addUnregistered() {
    // swift-format-ignore
    add(table: """
      | action/status          | waitingGatt     | readytoRegister | registering              |
      |:----------------------:|:---------------:|:---------------:|:------------------------:|
      | gattReady within 30 s  | readytoRegister |                 |                          |
      | register               |                 | registering     |                          |
      | registered within 10 s |                 |                 | nosetting (unconfigured) |
      """, region: "unregistered")
    // A hand may have turned the bolt since the lock reported its position.
    // swift-format-ignore
    add(table: """
      | action/status                                | registering                                                  |
      |:--------------------------------------------:|:------------------------------------------------------------:|
      | registered given presetPositions within 10 s | locked (configured)/unlocked (found)/moved (configured)/locked (adrift)/unlocked (adrift)/moved (adrift) |
      """, region: "unregistered", origin: .ours)
    // A login to a lock without an owner is refused, and the lock may end the link.
    // swift-format-ignore
    add(table: """
      | action/status               | readytoRegister |
      |:---------------------------:|:---------------:|
      | loginRefused given wrongKey | noSignal        |
      """, region: "unregistered", origin: .ours)
    // swift-format-ignore
    add(table: """
      | action/status | waitingGatt |
      |:-------------:|:-----------:|
      | after 30 s    | noSignal    |
      """, region: "orphaned", origin: .ours)
  }

  private mutating func addUnconfigured() {
    // swift-format-ignore
    add(table: """
      | action/status                         | waitingGatt | logining  | nosetting               |
      |:-------------------------------------:|:-----------:|:---------:|:-----------------------:|
      | gattReady within 30 s                 | logining    |           |                         |
      | loginDone unless wrongKey within 10 s |             | nosetting |                         |
      | configure                             |             |           | nosetting (configuring) |
      | disconnect                            |             | noSignal  | noSignal                |
      """, region: "unconfigured")
    // swift-format-ignore
    add(table: """
      | action/status                           | nosetting (configuring)                                     | logining |
      |:---------------------------------------:|:-----------------------------------------------------------:|:--------:|
      | configured unless tampering or absent within 5 s       | locked (configured)/unlocked (found)/moved (configured) |         |
      | configured given tampering or absent                   | locked (configured)/unlocked (found)/moved (configured) |         |
      | disconnect                              | noSignal (configured)/noSignal (unconfigured)               |          |
      | loginRefused given wrongKey within 10 s |                                                             | noSignal |
      | after 10 s given wrongKey       |                                                             | noSignal |
      """, region: "unconfigured", origin: .ours)
  }

  private mutating func addConfigured() {
    // swift-format-ignore
    add(table: """
      | action/status                         | waitingGatt | logining              | locked               | unlocked             | moved                                   |
      |:-------------------------------------:|:-----------:|:---------------------:|:--------------------:|:--------------------:|:---------------------------------------:|
      | gattReady within 30 s                 | logining    |                       |                      |                      |                                         |
      | loginDone unless wrongKey within 10 s |             | locked/unlocked (found)/moved |              |                      |                                         |
      | lock                                  |             |                       | locked (to locked)   | unlocked (to locked) | moved (to locked)                       |
      | unlock unless autolock                |             |                       |                      | unlocked (to unlocked) |                                       |
      | unlock                                |             |                       | locked (to unlocked) |                      | moved (to unlocked)                     |
      | toggle                                |             |                       | locked (to unlocked) | unlocked (to locked) | moved (to locked)/moved (to unlocked)   |
      | disconnect                            |             | noSignal              | noSignal             | noSignal             | noSignal                                |
      """, region: "configured")
    // swift-format-ignore
    add(table: """
      | action/status                           | logining | unlocked                    | unlocked (found)            |
      |:---------------------------------------:|:--------:|:---------------------------:|:---------------------------:|
      | loginRefused given wrongKey within 10 s | noSignal |                             |                             |
      | after 10 s given wrongKey               | noSignal |                             |                             |
      | lock                                    |          |                             | unlocked (to locked)        |
      | unlock unless autolock                  |          |                             | unlocked (to unlocked)      |
      | unlock given autolock                   |          | unlocked (then to unlocked) | unlocked (then to unlocked) |
      | toggle                                  |          |                             | unlocked (to locked)        |
      | disconnect                              |          |                             | noSignal                    |
      """, region: "configured", origin: .ours)
  }
}

/// The statuses of a configured lock at rest.
private let restStatuses = ["locked", "unlocked", "moved"]

extension MachineDefinition {
  /// Adds the motions of the motor: the client keeps its status until the bolt rests.
  ///
  /// `(to G)` is an undisturbed motion. After a change of the command, a hand on the bolt, or a repetition of the same
  /// command, other positions may be shown before the goal: `(then to G)`. The repetition may arrive when the bolt
  /// already rests.
  ///
  /// The client sees when the bolt reached the unlocked position if that is a new status and nothing delays the
  /// report.
  private mutating func addMotion() {
    for goal in ["locked", "unlocked"] {
      let other = goal == "locked" ? "unlocked" : "locked"
      let (same, back) = goal == "locked" ? ("lock", "unlock") : ("unlock", "lock")
      for shown in restStatuses {
        let seen = goal == "unlocked" && shown == goal ? "unlocked (found)" : goal
        for motion in goal == "unlocked" && shown != goal ? ["to", "then to"] : [] {
          // swift-format-ignore
          add(table: """
            | action/status              | \(shown) (\(motion) \(goal)) |
            |:--------------------------:|:------------------------------:|
            | arrived given tampering or absent unless jam | unlocked (found) |
            """, region: "configured", origin: .ours)
        }
        // swift-format-ignore
        add(table: """
          | action/status              | \(shown) (to \(goal))       |
          |:--------------------------:|:---------------------------:|
          | arrived unless jam or tampering or absent within 5 s | \(seen)          |
          | arrived unless jam         | \(seen)                     |
          | stalled given jam unless tampering or absent within 5 s | \(stalledStates(shown)) |
          | stalled given jam          | \(stalledStates(shown))            |
          | \(same)                    | \(shown) (then to \(goal))  |
          | \(back)                    | \(shown) (then to \(other)) |
          | toggle                     | \(toggled(shown))           |
          """, region: "configured", origin: .ours)
        // swift-format-ignore
        add(table: """
          | action/status              | \(shown) (then to \(goal))  |
          |:--------------------------:|:---------------------------:|
          | arrived unless jam or tampering or absent within 5 s | \(seen)          |
          | arrived unless jam         | \(seen)                     |
          | stalled given jam unless tampering or absent within 5 s | \(stalledStates(shown)) |
          | stalled given jam          | \(stalledStates(shown))            |
          | passed                     | \(restStatuses.filter { $0 != shown }.map { "\($0) (then to \(goal))" }.joined(separator: "/")) |
          | \(same)                    | \(shown) (then to \(goal))  |
          | \(back)                    | \(shown) (then to \(other)) |
          | toggle                     | \(toggled(shown))           |
          """, region: "configured", origin: .ours)
      }
    }
    for state in states.map(\.name).filter(Self.isMotion) {
      add(.event("disconnect"), from: state, to: ["noSignal (configured)"])
    }
  }

  /// Returns the positions of a blocked bolt: between the two positions, or still in the one that it did not leave.
  private func stalledStates(_ shown: String) -> String { shown == "moved" ? "moved" : "moved/\(shown)" }

  /// Returns the states after a toggle: the client chooses the direction by the status that it shows.
  private func toggled(_ shown: String) -> String {
    switch shown {
    case "locked": "locked (then to unlocked)"
    case "unlocked": "unlocked (then to locked)"
    default: "moved (then to locked)/moved (then to unlocked)"
    }
  }

  private static func isMotion(_ state: String) -> Bool {
    state.contains("(to ") || state.contains("(then to ")
  }

  /// Adds a hand that turns the bolt. At rest, the lock reports the new position. While the motor runs, it continues
  /// from there, or stops because the hand brought the bolt to its goal: the final position is unknown, `(adrift)`.
  private mutating func addHand() {
    let turns = [("handToLocked", "locked"), ("handToUnlocked", "unlocked"), ("handToMoved", "moved")]
    for shown in restStatuses {
      for (event, position) in turns where position != shown {
        if shown == "unlocked" {
          add(.event(event), from: "unlocked (found)", to: ["unlocked (by hand to \(position))"])
        }
        if position == "unlocked" {
          add(
            .event("turned"), from: "\(shown) (by hand to \(position))", to: ["unlocked (found)"],
            given: ["tampering", "absent"])
        }
        // swift-format-ignore
        add(table: """
          | action/status   | \(shown)                         | \(shown) (by hand to \(position)) |
          |:---------------:|:--------------------------------:|:---------------------------------:|
          | \(event)        | \(shown) (by hand to \(position)) | =                                |
          | turned unless tampering or absent or autolock within 1 s |        | \(position)                       |
          | turned given tampering or absent or autolock |                    | \(position)                       |
          | autolocked given autolock |                        | locked (adrift)                   |
          | lock            |                                  | \(shown) (then to locked)         |
          | unlock          |                                  | \(shown) (then to unlocked)       |
          | toggle          |                                  | \(toggled(shown))                 |
          | disconnect      |                                  | noSignal                          |
          """, region: "configured", origin: .ours)
        for (again, _) in turns where again != event {
          add(.event(again), from: "\(shown) (by hand to \(position))", to: ["\(shown) (adrift)"])
        }
      }
      // swift-format-ignore
      add(table: """
        | action/status     | \(shown) (adrift)         |
        |:-----------------:|:-------------------------:|
        | settled unless tampering or absent within 5 s | locked/unlocked (found)/moved |
        | settled given tampering or absent | locked/unlocked (found)/moved    |
        | passed            | \(restStatuses.filter { $0 != shown }.map { "\($0) (adrift)" }.joined(separator: "/")) |
        | lock              | \(shown) (then to locked) |
        | unlock            | \(shown) (then to unlocked) |
        | toggle            | \(toggled(shown))         |
        | disconnect        | noSignal                  |
        """, region: "configured", origin: .ours)
      for (event, position) in turns {
        if position == shown { addHand(event, where: shown) }
        let adrift = ["\(shown) (adrift)"]
        add(.event(event), from: adrift[0], to: adrift)
        for goal in ["locked", "unlocked"] {
          add(.event(event), from: "\(shown) (to \(goal))", to: adrift)
          add(.event(event), from: "\(shown) (then to \(goal))", to: adrift)
        }
      }
    }
  }

  /// Adds a hand that turns the bolt to its current position; autolock may just have been turning it away.
  private mutating func addHand(_ event: String, where shown: String) {
    guard shown == "unlocked" else { return add(.event(event), from: "\(shown) (configured)", to: nil) }
    // swift-format-ignore
    add(table: """
      | action/status             | unlocked (configured)/unlocked (found) |
      |:-------------------------:|:--------------------------------------:|
      | \(event) unless autolock  | =                                      |
      | \(event) given autolock   | unlocked (adrift)                      |
      """, origin: .ours)
  }

  /// Adds a hand that turns the bolt while the lock's report of its position is in transit; the lock corrects it at
  /// once.
  private mutating func addHandDuringReport() {
    // swift-format-ignore
    add(table: """
      | action/status                           | logining (by hand)                                 |
      |:---------------------------------------:|:--------------------------------------------------:|
      | loginDone unless wrongKey within 10 s   | locked (adrift)/unlocked (adrift)/moved (adrift) |
      | loginRefused given wrongKey within 10 s | noSignal                                           |
      | after 10 s given wrongKey       | noSignal                                           |
      | disconnect                              | noSignal                                           |
      """, region: "configured", origin: .ours)
    // swift-format-ignore
    add(table: """
      | action/status                     | nosetting (configuring by hand)                            |
      |:---------------------------------:|:----------------------------------------------------------:|
      | configured unless tampering or absent within 5 s | locked (adrift)/unlocked (adrift)/moved (adrift)        |
      | configured given tampering or absent             | locked (adrift)/unlocked (adrift)/moved (adrift)        |
      | disconnect                        | noSignal (configured)/noSignal (unconfigured)              |
      """, origin: .ours)
    // swift-format-ignore
    add(table: """
      | action/status | logining (configured) | nosetting (configuring)           |
      |:-------------:|:---------------------:|:---------------------------------:|
      | handToLocked  | > logining (by hand)  | > nosetting (configuring by hand) |
      | handToUnlocked | > logining (by hand) | > nosetting (configuring by hand) |
      | handToMoved   | > logining (by hand)  | > nosetting (configuring by hand) |
      """, origin: .ours)
  }

  /// Adds requests that change no status: settings, history, version, time, and attempts to bypass the login.
  private mutating func addRequests() {
    let sessions = states.map(\.name).filter { name in
      restStatuses.contains { name.hasPrefix($0 + " ") } || name.hasPrefix("nosetting (uncon")
        || name.hasPrefix("nosetting (configuring")
    }
    for event in SesameEvents.requests {
      for state in sessions where event != "setAutolock" || !Self.counting.contains(state) {
        add(.event(event), from: state, to: nil)
      }
    }
    let connected = sessions + states.map(\.name).filter { $0.hasPrefix("logining ") }
    for event in SesameEvents.attacks {
      for state in connected { add(.event(event), from: state, to: nil) }
    }
    let between = ["logining (configured)", "nosetting (configuring)"]
    for event in SesameEvents.hand {
      for state in states.map(\.name)
      where !restStatuses.contains(where: { state.hasPrefix($0 + " ") }) && !between.contains(state) {
        add(.event(event), from: state, to: nil)
      }
    }
  }

  /// Adds the reset: the lock erases its key and its settings, and advertises as unregistered after the link ends.
  private mutating func addReset() {
    let sessions = states.map(\.name).filter { name in
      restStatuses.contains { name.hasPrefix($0 + " ") } || name == "nosetting (unconfigured)"
    }
    for state in sessions {
      add(.event("reset"), from: state, to: ["\(State.status(of: state)) (resetting)"])
    }
    for shown in restStatuses + ["nosetting"] {
      let region = shown == "nosetting" ? "unconfigured" : "configured"
      // swift-format-ignore
      add(table: """
        | action/status        | \(shown) (resetting)                          |
        |:--------------------:|:---------------------------------------------:|
        | resetDone unless tampering or absent within 5 s | reset (unregistered)              |
        | resetDone given tampering or absent | reset (unregistered)                          |
        | disconnect           | noSignal (unregistered)/noSignal (\(region))  |
        """, origin: .ours)
      for other in restStatuses where other != shown && shown != "nosetting" {
        add(.event("passed"), from: "\(shown) (resetting)", to: ["\(other) (resetting)"], merge: true)
      }
      for event in SesameEvents.hand { add(.event(event), from: "\(shown) (resetting)", to: nil) }
    }
    // swift-format-ignore
    add(table: """
      | action/status | reset    |
      |:-------------:|:--------:|
      | disconnect    | noSignal |
      | restarted     | noSignal |
      """, region: "unregistered", origin: .ours)
    for event in SesameEvents.hand { add(.event(event), from: "reset (unregistered)", to: nil) }
  }

  /// Adds the ends of a link that the client did not request, in every status with a link.
  ///
  /// The air may lose a link where links can be lost at all. The client gives up a link on which tampering made it
  /// wait in vain. The lock may end the link:
  /// - while it may be absent, and after tampering;
  /// - when it was just sent something that no client sends;
  /// - when it does not accept the client's proof;
  /// - before it has opened a session on real air (locks do so when two clients meet);
  /// - after it has erased its owner's key.
  private mutating func addEndsOfLinks() {
    for state in states.map(\.name) {
      let status = State.status(of: state)
      guard status != "noSignal", status != "receivedBle" else { continue }
      let regions: [String] =
        switch state {
        case "registering (unregistered)": ["unregistered", "unconfigured", "orphaned"]
        case _ where state.hasPrefix("nosetting (configuring"): ["unconfigured", "configured"]
        case "nosetting (resetting)": ["unregistered", "unconfigured"]
        case _ where state.hasSuffix("(resetting)"): ["unregistered", "configured"]
        case _ where state.hasSuffix("unregistered)"): ["unregistered"]
        case _ where state.hasSuffix("unconfigured)"): ["unconfigured"]
        case _ where state.hasSuffix("orphaned)"): ["orphaned"]
        default: ["configured"]
        }
      let homes = regions.map { "noSignal (\($0))" }
      let isForgotten = status == "reset"
      add(
        .event("linkLost"), from: state, to: homes, given: isForgotten ? [] : ["loss", "absent", "tampering"])
      var reasons = ["absent", "tampering", "provocation"]
      if status == "connecting" || status == "waitingGatt" { reasons.append("loss") }
      // The client shows its proof to a lock without an owner as soon as the lock is ready, and the lock may then end
      // the link.
      if ["logining", "readytoRegister", "registering"].contains(status) { reasons.append("wrongKey") }
      // A lock with another owner waits for a login, but not forever.
      let isOrphaned = state == "waitingGatt (orphaned)"
      add(.event("linkClosed"), from: state, to: homes, given: isForgotten || isOrphaned ? [] : reasons)
      if !isForgotten { add(.event("gaveUp"), from: state, to: homes, given: ["tampering"]) }
    }
  }

  /// Adds one row that the documentation does not have; `nil` for the targets stays in the state.
  private mutating func add(
    _ trigger: Transition.Trigger, from state: String, to targets: [String]?, given: [String] = [],
    merge: Bool = false
  ) {
    if merge, let targets,
      let row = transitions.firstIndex(where: { $0.trigger == trigger && $0.from == .states([state]) }),
      case .states(let known) = transitions[row].to
    {
      transitions[row].to = .states(known + targets)
      return
    }
    transitions.append(
      Transition(
        trigger, from: .states([state]), to: targets.map { .states($0) } ?? .stay, given: given,
        origin: .ours))
  }
}

/// The events of the machine `sesame`.
enum SesameEvents {
  /// The events in the documentation's tables.
  static let documented = [
    "closeTo", "connect", "register", "configure", "lock", "unlock", "toggle", "disconnect",
  ]
  /// Requests to a lock after the login.
  static let requests = [
    "setAutolock", "readAutolock", "readHistory", "readVersion", "readStatus", "setTime",
  ]
  /// Attempts of an attacker without the key.
  static let attacks = ["forgeLock", "forgeUnlock", "replayCommand"]
  /// Turns of the thumbturn by hand.
  static let hand = ["handToLocked", "handToUnlocked", "handToMoved"]
  /// Events that the tester does not cause.
  static let spontaneous = [
    "linkUp", "gattReady", "registered", "loginDone", "advertised", "advertisementLost", "linkLost",
    "linkClosed", "gaveUp", "tampered", "provoked", "positionsFound",
    "loginRefused", "configured", "resetDone", "restarted", "arrived", "stalled", "passed", "turned",
    "settled",
    "autolocked",
  ]

  /// Returns the arguments of a stimulus: the tag of a command for the lock's history, positions in degrees, a delay.
  static func arguments(of name: String) -> ArgumentForms {
    switch name {
    case "lock", "unlock", "toggle":
      ArgumentForms(
        [.init("tag", .text), .init("bytes", .hexadecimal), .init("typed", .hexadecimal)], isAlternative: true
      )
    case "configure":
      ArgumentForms([
        .init("lock", degrees), .init("unlock", degrees), .init("from", .choice(["bolt"])),
      ])
    case "register": ArgumentForms([.init("login", .flag)])
    case "setAutolock": ArgumentForms([.init("delay", .duration(.zero ... .seconds(Int64(Int16.max))))])
    default: .none
    }
  }

  /// The readings of a client about its lock: volts, seconds, moments, and words.
  static let readings: [ValueForm] = [
    .init("battery", .anyNumber), .init("history", .text),
    .init(
      "record",
      .record([
        .init("number", .anyWholeNumber), .init("event", .text), .init("tag", .text),
        .init("time", .instant(precision: .zero)),
      ])), .init("time", .instant(precision: .zero)), .init("autolock", .anyWholeNumber),
    .init("version", .text), .init("login", .text), .init("registration", .text),
    .init("passed over", .text), .init("refused", .text), .init("motor", .choice(["stalled"])),
  ]

  private static let degrees = ValueForm.Kind.wholeNumber(Int(Int16.min)...Int(Int16.max))

  static let all: [Event] =
    (documented + ["reset"] + requests + attacks + hand).map { Event($0, arguments: arguments(of: $0)) }
    + spontaneous.map { Event($0, .spontaneous) }
}

extension MachineDefinition {
  /// The readings of ``sesame``, without making the machine.
  public static var sesameReadings: [ValueForm] { SesameEvents.readings }
}
