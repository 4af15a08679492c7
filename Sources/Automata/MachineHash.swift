import Basics
import Synchronization

extension Machine {
  /// What tells the machine from others: sixteen hexadecimal digits that two machines share only where they have the
  /// same text, on every host. What may be given with stimuli, what readings may be, and which part of the machine a state
  /// belongs to is no part of it: it says nothing of what happens.
  public var hash: String {
    hashOnce.get {
      var definition = definition
      for number in definition.events.indices { definition.events[number].arguments = nil }
      definition.readings = []
      for number in definition.states.indices { definition.states[number].region = "" }
      return Fingerprint(definition.text(in: .yaml)).description
    }
  }
}

/// The hash of a machine, made when it is first asked for: writing the text of a large one takes a while.
final class MachineHash: Equatable, Sendable {
  private let made = Mutex<String?>(nil)

  func get(_ make: () -> String) -> String {
    made.withLock { made in
      let hash = made ?? make()
      made = hash
      return hash
    }
  }

  // It follows from what else a machine has.
  static func == (left: MachineHash, right: MachineHash) -> Bool { true }
}
