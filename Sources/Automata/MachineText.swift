/// The text formats of a machine.
public enum MachineFormat: String, CaseIterable, Sendable {
  /// The transition table, in columns.
  case table
  /// The transition table as Markdown.
  case markdown
  /// The whole definition; ``MachineDefinition/init(yaml:name:)`` reads it back.
  case yaml
  /// A `stateDiagram-v2`.
  case mermaid
  /// A GraphViz graph with the definition; ``MachineDefinition/init(dot:name:)`` reads it back.
  case dot
  /// A drawing for browsers.
  case svg
}

extension MachineDefinition {
  /// Returns the machine in a text format, ending in a line feed.
  public func text(in format: MachineFormat) -> String {
    switch format {
    case .table: table()
    case .markdown: markdown()
    case .yaml: yaml()
    case .mermaid: mermaid()
    case .dot: dot()
    case .svg: svg()
    }
  }
}

extension Transition {
  /// Returns the states to which the row leads from one of its source states.
  func targets(from source: String) -> [String] {
    switch to {
    case .states(let names), .shift(let names): names
    case .stay: [source]
    }
  }

  /// The effects as the notations write them: `! before ; after`, with a leading space.
  var effectText: String {
    (before.isEmpty ? "" : " ! " + before.joined(separator: ", "))
      + (after.isEmpty ? "" : " ; " + after.joined(separator: ", "))
  }

  /// The row in one line: its trigger, sources, targets, output and effects.
  public var line: String {
    let sources =
      switch from {
      case .states(let names): names.joined(separator: ", ")
      case .wildcard: "any other state"
      }
    let targets =
      switch to {
      case .states(let names): names.joined(separator: " or ")
      case .shift(let names): names.joined(separator: " or ") + ", and its time goes on"
      case .stay: "the same"
      }
    return "\(RowLabel(self)): \(sources) → \(targets)" + (shows.map { " [\($0)]" } ?? "") + effectText
      + data.text
  }

  /// The label of the row's arrow in a drawing: the event, or `input/output` if the row has an output, and then its
  /// effects, as in `open / creak, greet`.
  var arrowText: String {
    let label = RowLabel(self).description
    let effects = (before + after).joined(separator: ", ")
    return (shows.map { "\(label)/\($0)" } ?? label) + data.text
      + (effects.isEmpty ? "" : " / \(effects)")
  }
}

extension RowData {
  /// What the row says about data, in the order in which it matters: `[tries < 2]`, `tries := tries + 1`, `start relock`.
  var words: [String] {
    let times = [earliest.map { "not before \($0)" }, latest.map { "within \($0)" }].compactMap { $0 }
    return (when.map { ["[\($0)]"] } ?? []) + (timer.map { ["of \($0)"] } ?? []) + times
      + (timer.flatMap { keepsTimer ? ["keep \($0)"] : nil } ?? [])
      + set.map { "\($0.variable) := \($0.value)" } + due.map { "\($0.reading) = \($0.value ?? "any")" }
      + start.map { "start \($0)" } + stop.map { "stop \($0)" }
  }

  /// The words in one line, with a leading space: ` [tries < 2] tries := tries + 1, start relock`.
  var text: String {
    let rest = words.drop { $0.hasPrefix("[") }.joined(separator: ", ")
    return (when.map { " [\($0)]" } ?? "") + (rest.isEmpty ? "" : " " + rest)
  }
}

/// The states for which a wildcard row stands, for every event with such a row.
struct Wildcards {
  private var named: [Transition.Trigger: Set<String>] = [:]
  private let states: [String]

  init(_ definition: MachineDefinition) {
    states = definition.states.map(\.name)
    for transition in definition.transitions where transition.from == .wildcard {
      named[transition.trigger] = []
    }
    for transition in definition.transitions {
      if case .states(let names) = transition.from { named[transition.trigger]?.formUnion(names) }
    }
  }

  /// Returns the source states of a row.
  func sources(of transition: Transition) -> [String] {
    switch transition.from {
    case .states(let names): names
    case .wildcard: states.filter { named[transition.trigger]?.contains($0) == false }
    }
  }
}
