public import Automata
import Basics

extension Machine {
  /// Returns the conditions in which a test of a device may start: those starts of the machine that the device
  /// supports, each with and without the conditions that only a start can establish. The usual one is the last.
  ///
  /// A device without any settings has one start, without conditions.
  public func startConditions(of abilities: Abilities) -> [StartCondition] {
    let starts = definition.starts.compactMap { start -> StartCondition? in
      let settings = start.conditions.map { Argument($0.name, .flag($0.value)) }
      guard let known = abilities.settings else { return StartCondition(settings) }
      return settings.allSatisfy { known.contains($0.name) } ? StartCondition(settings) : nil
    }
    return startConditions(starts.isEmpty ? [StartCondition()] : starts, of: abilities)
  }

  /// The number of start conditions from which on further conditions are no longer combined with the others: each
  /// combination doubles the number.
  private static var maximumCombined: Int { 1024 }

  /// Returns start conditions, each with and without the conditions that only a start can establish.
  ///
  /// - Parameters:
  ///   - starts: the conditions that stand for the machine's starts. The usual one is the last, and remains the last.
  ///   - abilities: what the device supports.
  public func startConditions(_ starts: [StartCondition], of abilities: Abilities) -> [StartCondition] {
    var conditions = starts
    for item in definition.conditions where item.faults.isEmpty && item.stimuli.isEmpty {
      guard let known = abilities.settings, known.contains(item.name) else { continue }
      let combined = conditions.count < Self.maximumCombined ? conditions : starts
      let open = combined.filter { $0.setting(item.name) == nil }
      conditions = open.map { StartCondition($0.settings + [Argument(item.name, .flag(true))]) } + conditions
    }
    return conditions
  }
}

extension Abilities {
  /// Returns these abilities with additional disturbances: the faults of the device that establish conditions of a
  /// machine.
  ///
  /// Disturbances that the device itself offers remain as they are.
  public func disturbing(_ machine: Machine) -> Abilities {
    var result = self
    for item in machine.definition.conditions {
      for fault in item.faults where faults.contains(fault) {
        guard !result.disturbances.contains(where: { $0.fault == fault }) else { continue }
        result.disturbances.append(Disturbance(.events, fault, [.flag(true), .flag(false)]))
      }
    }
    return result
  }

  /// Returns the abilities to do everything in a machine's definition.
  static func everything(of machine: Machine) -> Abilities {
    let conditions = machine.definition.conditions
    let stimuli = conditions.flatMap(\.stimuli).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    var result = Abilities(
      stimuli: nil, faults: conditions.flatMap(\.faults), settings: nil,
      arguments: stimuli.map { name in
        let argument = machine.nameOfOnlyArgument(of: name)
        return (name, [[Argument(argument, .duration(.zero))], [Argument(argument, .duration(.seconds(3)))]])
      })
    result = result.disturbing(machine)
    return result
  }
}
