import Basics

extension Machine {
  /// What tells the machine from others: sixteen hexadecimal digits that two machines share only where they have the
  /// same text, on every host.
  public var hash: String { Fingerprint(definition.text(in: .yaml)).description }
}
