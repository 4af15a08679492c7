public import Automata
import Basics

extension Machine {
  /// The conditions in which a test of a device may start: the machine's starts, those that the device can be brought
  /// to, each with and without the conditions that only a start can bring about. The usual one is the last.
  ///
  /// A device of which no settings can be asked has one start, without any.
  public func startConditions(of abilities: Abilities) -> [StartCondition] {
    let starts = definition.starts.compactMap { start -> StartCondition? in
      let settings = start.conditions.map { Argument($0.name, .flag($0.value)) }
      guard let known = abilities.settings else { return StartCondition(settings) }
      return settings.allSatisfy { known.contains($0.name) } ? StartCondition(settings) : nil
    }
    return startConditions(starts.isEmpty ? [StartCondition()] : starts, of: abilities)
  }

  /// From so many conditions on, no more conditions are combined with each other: that would double them each time.
  private static var maximumCombined: Int { 1024 }

  /// Conditions in which tests may start, each with and without the conditions that only a start can bring about.
  ///
  /// - Parameters:
  ///   - starts: the conditions that stand for the machine's starts; the usual one is the last, and stays it.
  ///   - abilities: what the device can be asked for.
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
  /// The same with the faults of the device that bring about conditions of a machine among the disturbances.
  ///
  /// Those that the device itself offers to generated tests stay as they are.
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

  /// Everything that a machine knows of.
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
