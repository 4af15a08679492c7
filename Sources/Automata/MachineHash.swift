import Basics
import Synchronization

extension Machine {
  /// The hash that identifies the machine: sixteen hexadecimal digits, the same on every host for the same text.
  ///
  /// The hash ignores the forms of arguments and readings and the regions of states, because they do not change the
  /// behaviour of the machine.
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

/// The hash of a machine, computed on first use: writing the text of a large machine takes a while.
final class MachineHash: Equatable, Sendable {
  private let cached = Mutex<String?>(nil)

  func get(_ make: () -> String) -> String {
    cached.withLock { cached in
      let hash = cached ?? make()
      cached = hash
      return hash
    }
  }

  // The hash follows from the other properties of a machine, so it does not affect equality.
  static func == (left: MachineHash, right: MachineHash) -> Bool { true }
}
