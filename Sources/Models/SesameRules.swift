import Automata

extension MachineDefinition {
  /// Returns the rules that a Sesame lock must never break, beside the machine ``sesame``.
  static func sesameRules(of machine: MachineDefinition) -> [TraceRule] {
    let rules = [battery, unlocking, locking, autolockOfOwner, version, records]
    let text = rules.map { "- " + $0.split(separator: "\n").joined(separator: "\n  ") }.joined(
      separator: "\n")
    do {
      return try TraceRule.rules(yaml: text, name: "the rules of Sesame", of: machine)
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// A battery never rises by itself. A reading may follow a setting late: each setting explains one rise, up to the
  /// greatest value set.
  private static let battery = """
    rule: battery
    states: [watching, { name: the battery rose by itself, status: broken }]
    variables:
      last: { form: number, first: 1000.0 }
      settings: { form: { integer: [0, 99] }, first: 0 }
      greatest: { form: number, first: 0.0 }
    events: [fault battery: { arguments: { value: number } }]
    transitions:
      - event: fault battery
        from: watching
        when: value == value
        to: =
        set: { settings: settings + 1, greatest: "settings == 0 ? value : max(greatest, value)" }
      - { event: fault battery, from: watching, to: =, set: { settings: settings + 1, greatest: 1000.0 } }
      - { event: reading battery, from: watching, when: value <= last, to: =, set: { last: value } }
      - event: reading battery
        from: watching
        when: settings > 0 && value <= greatest
        to: =
        set: { last: value, settings: settings - 1 }
      - { event: reading battery, from: watching, when: value > last, to: the battery rose by itself }
    """

  /// A bolt that was locked is unlocked by a request or by a hand only: it does not turn because no client is connected,
  /// or because another one is. A recent request may be the reason for the next status, which comes late on a link that
  /// loses packets.
  private static let unlocking = """
    rule: unlocking
    states: [watching, { name: "unlocked after locked, with no unlock, toggle or hand", status: broken }]
    conditions: [tampering, absent, loss]
    variables:
      last: { form: instant, first: "now - duration('1h')" }
      isReason: { form: flag, first: "true" }
    transitions:
      - { event: unlock, from: watching, to: =, set: &unlocking { last: now, isReason: "true" } }
      - { event: toggle, from: watching, to: =, set: *unlocking }
      - { event: handToUnlocked, from: watching, to: =, set: *unlocking }
      - { event: handToMoved, from: watching, to: =, set: *unlocking }
    \(recent("status locked"))
      - event: status unlocked
        from: watching
        when: "!isReason"
        to: unlocked after locked, with no unlock, toggle or hand
    \(newPositions)
    """

  /// The same for a bolt that was unlocked. An autolock time is a reason for the rest of a test.
  private static let locking = """
    rule: locking
    states: [watching, { name: "locked after unlocked, with no lock, toggle, hand or autolock", status: broken }]
    conditions: [tampering, absent, loss]
    variables:
      last: { form: instant, first: "now - duration('1h')" }
      isReason: { form: flag, first: "true" }
      hasTime: { form: flag, first: "false" }
    transitions:
      - { event: lock, from: watching, to: =, set: &locking { last: now, isReason: "true" } }
      - { event: toggle, from: watching, to: =, set: *locking }
      - { event: handToLocked, from: watching, to: =, set: *locking }
      - { event: handToMoved, from: watching, to: =, set: *locking }
      - { event: setAutolock, from: watching, when: delay > duration('0s'), to: =, set: { hasTime: "true" } }
    \(recent("status unlocked"))
      - event: status locked
        from: watching
        when: "!isReason && !hasTime"
        to: locked after unlocked, with no lock, toggle, hand or autolock
    \(newPositions)
    """

  /// The statuses after which a bolt may be in any position.
  private static let newPositions =
    ["readytoRegister", "registering", "nosetting", "reset"].map { status in
      "  - { event: status \(status), from: watching, to: =, set: { isReason: \"true\" } }"
    }.joined(separator: "\n")

  private static func recent(_ event: String) -> String {
    """
      - { event: \(event), from: watching, given: [tampering, absent], to: =, set: { isReason: "true" } }
      - event: \(event)
        from: watching
        given: loss
        unless: [tampering, absent]
        to: =
        set: { isReason: now - last <= duration('16s') }
      - event: \(event)
        from: watching
        unless: [tampering, absent, loss]
        to: =
        set: { isReason: now - last <= duration('6s') }
    """
  }

  /// A lock has one version of its firmware.
  private static let version = """
    rule: version
    states: [watching, { name: the version changed, status: broken }]
    variables:
      first: { form: text, first: "''" }
    transitions:
      - { event: reading version, from: watching, when: first == '', to: =, set: { first: value } }
      - { event: reading version, from: watching, when: value != first, to: the version changed }
    """

  /// A reset ends the autolock time, so that the next owner finds none, unless something other than the client sets one.
  private static let autolockOfOwner = """
    rule: autolock of the owner
    states: [someone's, new, { name: the autolock time outlives the reset, status: broken }]
    transitions:
      - { event: status reset, from: [someone's, new], to: new }
      - { event: setAutolock, from: new, to: someone's }
      - { event: fault mutate, from: new, to: someone's }
      - { event: fault reflect, from: new, to: someone's }
      - { event: fault write, from: new, to: someone's }
      - { event: fault inject, from: new, to: someone's }
      - { event: fault request, from: new, to: someone's }
      - { event: reading autolock, from: new, when: value != 0, to: the autolock time outlives the reset }
    """
}
