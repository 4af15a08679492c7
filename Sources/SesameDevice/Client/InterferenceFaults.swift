public import Basics
public import Conformance
public import Sesame

extension Interference {
  /// The names of the faults.
  public static let names = ["forge", "replay", "request", "shadow", "mutate", "reflect", "spoof"]

  /// Parses a fault; `nil` if its name is not one of ``names``.
  ///
  /// - Throws: a ``LabFault`` that lists the valid values if the value is none of them.
  public init?(_ fault: Fault) throws(LabFault) {
    guard Self.names.contains(fault.name) else { return nil }
    guard !fault.value.isNothing else {
      self = .nothing
      return
    }
    if fault.name == "reflect" { try fault.flag() }
    let text = fault.value.description
    let known: Interference? =
      switch fault.name {
      case "forge": Forgery.allCases.first { $0.name == text }.map { .forge($0) }
      case "replay": Replay(text).map { .replay($0) }
      case "request": UndefinedRequest(rawValue: text).map { .request($0) }
      case "shadow": MessageFlaw(rawValue: text).map { .shadow($0) }
      case "mutate": MessageFlaw(rawValue: text).map { .mutate($0) }
      case "spoof": Spoof(rawValue: text).map { .spoof($0) }
      default: .reflect
      }
    guard let known else {
      throw fault.problem(expectingOneOf: Self.values(of: fault.name).map(\.description))
    }
    self = known
  }

  /// Returns the valid values of a fault.
  public static func values(of name: String) -> [Value] {
    switch name {
    case "forge": Forgery.allCases.map { .text($0.name) }
    case "replay": Replay.allCases.map { .text($0.description) }
    case "request": UndefinedRequest.allCases.map { .text($0.rawValue) }
    case "shadow", "mutate": MessageFlaw.allCases.map { .text($0.rawValue) }
    case "spoof": Spoof.allCases.map { .text($0.rawValue) }
    default: [.flag(true)]
    }
  }
}
