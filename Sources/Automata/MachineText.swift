/// The text forms in which a machine can be written out.
public enum MachineFormat: String, CaseIterable, Sendable {
  /// The transition table, in columns.
  case table
  /// The transition table as Markdown.
  case markdown
  /// The whole definition, which ``MachineDefinition/init(yaml:name:)`` reads back.
  case yaml
  /// A `stateDiagram-v2`.
  case mermaid
  /// A GraphViz graph with the whole definition, which ``MachineDefinition/init(dot:name:)`` reads back.
  case dot
  /// A drawing for a browser.
  case svg
}

extension MachineDefinition {
  /// The machine in one of the text forms, ending in a line feed.
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
  /// The states that the row leads to from one of its own.
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

  /// The row in one line: what sets it off, from where, where it leads, and what it shows.
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
  }

  /// What a drawing writes at the row's arrow: `input/output` where the output is given, else the event and
  /// what it does, `event / effect, effect`.
  var arrowText: String {
    let label = RowLabel(self).description
    let effects = (before + after).joined(separator: ", ")
    return (shows.map { "\(label)/\($0)" } ?? label) + (effects.isEmpty ? "" : " / \(effects)")
  }
}

/// Which states a row from any state stands for, for every event that has such a row.
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

  /// The states that a row starts from.
  func sources(of transition: Transition) -> [String] {
    switch transition.from {
    case .states(let names): names
    case .wildcard: states.filter { named[transition.trigger]?.contains($0) == false }
    }
  }
}
