// What goes with stimuli, faults and starts, checked before a device is given them.

/// Reads what goes with a stimulus, a fault or a setting of a start, and does nothing: a scenario in which that is wrong is found
/// out before it is run. What only the device itself can tell, is right.
public struct Particulars: Sendable {
  /// Reads the arguments of a stimulus, by its name.
  public var stimulus: @Sendable (_ name: String, _ arguments: [Argument]) throws(LabFault) -> Void = {
    _, _ in
  }
  /// Reads the value of a fault.
  public var fault: @Sendable (Fault) throws(LabFault) -> Void = { _ in }

  /// Reads a setting of a start condition.
  public var setting: @Sendable (Argument) throws(LabFault) -> Void = { _ in }

  /// Finds nothing wrong.
  public init() {}

  /// What is wrong with the arguments of a stimulus, if anything is.
  public func problem(with stimulus: String, _ arguments: [Argument]) -> String? {
    problem { () throws(LabFault) in try self.stimulus(stimulus, arguments) }
  }

  /// What is wrong with the value of a fault, if anything is.
  public func problem(with fault: Fault) -> String? {
    problem { () throws(LabFault) in try self.fault(fault) }
  }

  /// What is wrong with a setting of a start condition, if anything is.
  public func problem(with setting: Argument) -> String? {
    problem { () throws(LabFault) in try self.setting(setting) }
  }

  private func problem(_ read: () throws(LabFault) -> Void) -> String? {
    do {
      try read()
      return nil
    } catch {
      return error.detail
    }
  }
}

extension [Argument] {
  /// Throws when something is given under a name that is not expected, or twice.
  public func check(names: [String]) throws(LabFault) {
    for (place, argument) in enumerated() {
      let isRepeated = self[..<place].contains { $0.name == argument.name }
      guard !names.contains(argument.name) || isRepeated else { continue }
      let expected = names.isEmpty ? "nothing" : names.joined(separator: ", ")
      let given = argument.name == Argument.only ? argument.value.description : argument.name
      throw LabFault(.notPossible, "it takes \(expected), and not '\(given)'\(isRepeated ? " twice" : "")")
    }
  }
}

extension Fault {
  /// Whether the fault begins, and not ends, where it is a matter of yes or no.
  ///
  /// - Throws: unless the value is one of them.
  @discardableResult
  public func flag() throws(LabFault) -> Bool {
    guard value.isYesOrNo else { throw problem(expecting: "yes or no") }
    return !value.isNothing
  }

  /// What is wrong with the fault, where something else is expected.
  public func problem(expecting expected: String) -> LabFault {
    LabFault(.notPossible, "the fault '\(name)' takes \(expected), and not '\(value)'")
  }

  /// What is wrong with the fault, where one of these values is expected.
  public func problem(expectingOneOf values: [String]) -> LabFault {
    let expected = values.joined(separator: ", ")
    return LabFault(.notPossible, "the fault '\(name)' takes one of: \(expected); and not '\(value)'")
  }
}
