public import Automata
import Basics

extension MachineDefinition {
  /// The Sesame tables for a lock that lives: what the device does by itself is spontaneous and has deadlines.
  ///
  /// The rows *connecting*, *waitingGatt*, *registering* and *logining* of the documentation are the events
  /// `linkUp`, `gattReady`, `registered` and `loginDone`. A status that the documentation gives in one step may
  /// take the lock a while: `lock` leads from `unlocked` to `unlocked (to locked)`, which must end as `locked`
  /// within five seconds. What the documentation is silent about stands in tables marked as ours: a lost link, a
  /// hand on the thumbturn, autolock, reset, and the deadlines.
  ///
  /// The regions of a state's name say what is known of the lock: `unregistered`, `unconfigured` (registered,
  /// positions never set), `configured`, and `orphaned` (registered with a key that was never received). A configured lock
  /// is `unlocked (found)` where the client did not see when the bolt came there: autolock may have counted for long.
  ///
  /// What the client's own end of the link sees is evidence, and an event: `linkLost` (the air lost the link, or it never
  /// came about), `linkClosed` (the lock ended it), `tampered` (the tester took a frame away, altered or added one, or
  /// cut the link), `provoked` (the tester sent what no client says), `positionsFound` (what a lock that was just
  /// registered says of its positions). A device that reports them is taken at its word:
  /// a live link neither loses nor alters nor reorders what the Link Layer has acknowledged (Core 5.4, Vol 6 Part B
  /// §4.5.9), so while it lives every deadline holds.
  ///
  /// Of a new autolock time that is set while the bolt rests unlocked nothing is known but that locks differ:
  /// `autolock-start` is a choice that each of them makes once.
  ///
  /// Conditions: `loss` (a link may be lost and an advertisement missed, as on any real air), `tampering` (frames were
  /// tampered with on this link, so that what they carried, and what depends on the counters of later ones, is open until
  /// the link is over), `absent` (the lock may be out of reach or without power), `jam` (the bolt is blocked), `autolock`
  /// (set, to its time; what is set while frames are tampered with may not have arrived), `wrongKey` (the client cannot
  /// prove itself), `provocation` (the lock was just sent what no client says, and may end the link at it),
  /// `presetPositions` (the lock says that its positions are set as soon as it is registered: some are made so, and some
  /// keep those of their last owner, which is as right as having none).
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
      // A link that was cut off is noticed two seconds later, and a lock without power has to start.
      Condition(
        "absent", faults: ["out-of-range", "no-power"], moments: ["power-cycle"], delay: .seconds(6)),
      Condition("jam", faults: ["jam"], unsure: ["tampering", "absent"]),
      Condition(
        "autolock", stimuli: ["setAutolock", "reset"], unsure: ["tampering", "absent"],
        reading: "autolock",
        delay: .seconds(6)),
      // A proof that is on its way is what it was when it was sent.
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
    machine.addHandInBetween()
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
    return machine
  }()

  /// From far away to a connected link, which goes the same way whatever the lock is.
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
    // A hand may have turned the bolt since the lock said where it is.
    // swift-format-ignore
    add(table: """
      | action/status                                | registering                                                  |
      |:--------------------------------------------:|:------------------------------------------------------------:|
      | registered given presetPositions within 10 s | locked (configured)/unlocked (found)/moved (configured)/locked (adrift)/unlocked (adrift)/moved (adrift) |
      """, region: "unregistered", origin: .ours)
    // Who logs in to a lock that has no owner is refused, and the lock may end the link.
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

/// The park positions that a configured lock shows.
private let rests = ["locked", "unlocked", "moved"]

extension MachineDefinition {
  /// The motor runs: the client keeps its status until the bolt rests.
  ///
  /// `(to G)` is a motion that nothing has disturbed. After a change of mind, a hand in between, or the same command once
  /// more, which may arrive when the bolt rests already, other positions may be shown on the way: `(then to G)`.
  ///
  /// When the bolt came to where it is unlocked is seen where that is news, and where nothing holds the news up.
  private mutating func addMotion() {
    for goal in ["locked", "unlocked"] {
      let other = goal == "locked" ? "unlocked" : "locked"
      let (same, back) = goal == "locked" ? ("lock", "unlock") : ("unlock", "lock")
      for shown in rests {
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
          | stalled given jam unless tampering or absent within 5 s | \(stalls(shown)) |
          | stalled given jam          | \(stalls(shown))            |
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
          | stalled given jam unless tampering or absent within 5 s | \(stalls(shown)) |
          | stalled given jam          | \(stalls(shown))            |
          | passed                     | \(rests.filter { $0 != shown }.map { "\($0) (then to \(goal))" }.joined(separator: "/")) |
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

  /// A bolt that is blocked rests between the positions, or has not left the one it was in.
  private func stalls(_ shown: String) -> String { shown == "moved" ? "moved" : "moved/\(shown)" }

  /// The client decides which way to toggle from the status it shows.
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

  /// A hand turns the bolt: at rest the lock reports where it stands now. While the motor runs it goes on from
  /// there, or stops because the hand brought the bolt to its goal: where that ends is open, `(adrift)`.
  private mutating func addHand() {
    let turns = [("handToLocked", "locked"), ("handToUnlocked", "unlocked"), ("handToMoved", "moved")]
    for shown in rests {
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
        | passed            | \(rests.filter { $0 != shown }.map { "\($0) (adrift)" }.joined(separator: "/")) |
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

  /// A hand that turns the bolt to where it is; unless the autolock was just turning it away.
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

  /// A hand that turns the bolt while the lock's word on it is on its way: what was said is put right at once.
  private mutating func addHandInBetween() {
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

  /// Requests that change no status: settings, history, version, time, and attempts to go round the login.
  private mutating func addRequests() {
    let sessions = states.map(\.name).filter { name in
      rests.contains { name.hasPrefix($0 + " ") } || name.hasPrefix("nosetting (uncon")
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
      where !rests.contains(where: { state.hasPrefix($0 + " ") }) && !between.contains(state) {
        add(.event(event), from: state, to: nil)
      }
    }
  }

  /// The lock forgets its key and its settings; when the link ends it advertises as unregistered.
  private mutating func addReset() {
    let sessions = states.map(\.name).filter { name in
      rests.contains { name.hasPrefix($0 + " ") } || name == "nosetting (unconfigured)"
    }
    for state in sessions {
      add(.event("reset"), from: state, to: ["\(State.status(of: state)) (resetting)"])
    }
    for shown in rests + ["nosetting"] {
      let region = shown == "nosetting" ? "unconfigured" : "configured"
      // swift-format-ignore
      add(table: """
        | action/status        | \(shown) (resetting)                          |
        |:--------------------:|:---------------------------------------------:|
        | resetDone unless tampering or absent within 5 s | reset (unregistered)              |
        | resetDone given tampering or absent | reset (unregistered)                          |
        | disconnect           | noSignal (unregistered)/noSignal (\(region))  |
        """, origin: .ours)
      for other in rests where other != shown && shown != "nosetting" {
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

  /// How a link ends that the client did not end as it was asked to, in any status with a link.
  ///
  /// The air may lose it where links can be lost at all. The lock may end it where it has been tampered with, when it
  /// was just sent what no client says, when it does not believe the client, before it has opened a session where air is real (locks do so when two clients meet),
  /// and once it has forgotten its owner. The client gives up a link on which it was made to wait in vain.
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
      // A lock without an owner is shown a proof as soon as it is ready, and may end the link in what follows.
      if ["logining", "readytoRegister", "registering"].contains(status) { reasons.append("wrongKey") }
      // A lock with another owner waits for a login, and not for ever.
      let isOrphaned = state == "waitingGatt (orphaned)"
      add(.event("linkClosed"), from: state, to: homes, given: isForgotten || isOrphaned ? [] : reasons)
      if !isForgotten { add(.event("gaveUp"), from: state, to: homes, given: ["tampering"]) }
    }
  }

  /// Adds one row of ours; `nil` for a target means that the state goes on.
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

/// The events of the living lock.
enum SesameEvents {
  /// What the documentation's tables name.
  static let seed = [
    "closeTo", "connect", "register", "configure", "lock", "unlock", "toggle", "disconnect",
  ]
  /// Requests to a lock that is logged in.
  static let requests = [
    "setAutolock", "readAutolock", "readHistory", "readVersion", "readStatus", "setTime",
  ]
  /// What someone without the key might try.
  static let attacks = ["forgeLock", "forgeUnlock", "replayCommand"]
  /// What a hand on the thumbturn does.
  static let hand = ["handToLocked", "handToUnlocked", "handToMoved"]
  /// What happens without the tester.
  static let spontaneous = [
    "linkUp", "gattReady", "registered", "loginDone", "advertised", "advertisementLost", "linkLost",
    "linkClosed", "gaveUp", "tampered", "provoked", "positionsFound",
    "loginRefused", "configured", "resetDone", "restarted", "arrived", "stalled", "passed", "turned",
    "settled",
    "autolocked",
  ]

  /// What goes with a stimulus: who did it, as the lock's history is to have it, positions in degrees, a delay.
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

  /// What a client reports of its lock: volts, seconds, and words.
  static let readings: [ValueForm] = [
    .init("battery", .anyNumber), .init("history", .text), .init("autolock", .anyWholeNumber),
    .init("version", .text), .init("login", .text), .init("registration", .text),
    .init("passed over", .text), .init("motor", .choice(["stalled"])),
  ]

  private static let degrees = ValueForm.Kind.wholeNumber(Int(Int16.min)...Int(Int16.max))

  static let all: [Event] =
    (seed + ["reset"] + requests + attacks + hand).map { Event($0, arguments: arguments(of: $0)) }
    + spontaneous.map { Event($0, .spontaneous) }
}

extension MachineDefinition {
  /// What ``sesame`` may be told by a device, without the machine being made.
  public static var sesameReadings: [ValueForm] { SesameEvents.readings }
}
