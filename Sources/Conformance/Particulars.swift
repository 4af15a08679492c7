import Basics

// Checks of arguments, fault values and start settings before a device receives them.

/// Checks the arguments of stimuli, the values of faults and the settings of starts without performing anything, so
/// that a scenario with a wrong one is rejected before it runs.
///
/// A value that only the device itself can judge passes.
public struct Particulars: Sendable {
  /// Checks the arguments of a stimulus, given its name.
  public var stimulus: @Sendable (_ name: String, _ arguments: [Argument]) throws(LabFault) -> Void = {
    _, _ in
  }
  /// Checks the value of a fault.
  public var fault: @Sendable (Fault) throws(LabFault) -> Void = { _ in }

  /// Checks a setting of a start condition.
  public var setting: @Sendable (Argument) throws(LabFault) -> Void = { _ in }

  /// Makes checks that accept everything.
  public init() {}

  /// Returns what is wrong with the arguments of a stimulus; `nil` if nothing is.
  public func problem(with stimulus: String, _ arguments: [Argument]) -> String? {
    problem { () throws(LabFault) in try self.stimulus(stimulus, arguments) }
  }

  /// Returns what is wrong with the value of a fault; `nil` if nothing is.
  public func problem(with fault: Fault) -> String? {
    problem { () throws(LabFault) in try self.fault(fault) }
  }

  /// Returns what is wrong with a setting of a start condition; `nil` if nothing is.
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
  /// Checks the names of the arguments.
  ///
  /// - Throws: a ``LabFault`` if a name is not expected, or occurs twice.
  public func check(names: [String]) throws(LabFault) {
    for (index, argument) in enumerated() {
      let isRepeated = self[..<index].contains { $0.name == argument.name }
      guard !names.contains(argument.name) || isRepeated else { continue }
      let expected = names.isEmpty ? "nothing" : names.joined(separator: ", ")
      let given = argument.name == Argument.only ? argument.value.description : argument.name
      throw LabFault(.notPossible, "it takes \(expected), and not '\(given)'\(isRepeated ? " twice" : "")")
    }
  }
}

extension Fault {
  /// Returns whether the fault begins rather than ends, if its value is yes or no.
  ///
  /// - Throws: a ``LabFault`` if the value is neither.
  @discardableResult
  public func flag() throws(LabFault) -> Bool {
    guard value.isYesOrNo else { throw problem(expecting: "yes or no") }
    return !value.isNothing
  }

  /// Returns the lab fault for a fault whose value is not the expected one.
  public func problem(expecting expected: String) -> LabFault {
    LabFault(.notPossible, "the fault '\(name)' takes \(expected), and not '\(value)'")
  }

  /// Returns the lab fault for a fault whose value is not one of the expected ones.
  public func problem(expectingOneOf values: [String]) -> LabFault {
    let expected = values.joined(separator: ", ")
    return LabFault(.notPossible, "the fault '\(name)' takes one of: \(expected); and not '\(value)'")
  }
}
