import Basics

extension Machine {
  /// What tells the machine from others: sixteen hexadecimal digits that two machines share only where they have the
  /// same text, on every host. What may be given with stimuli, and what readings may be, is no part of it: it says nothing
  /// of what happens.
  public var hash: String {
    var definition = definition
    for number in definition.events.indices { definition.events[number].arguments = nil }
    definition.readings = []
    return Fingerprint(definition.text(in: .yaml)).description
  }
}
