import Automata
import Basics
public import Conformance
public import Journal

/// The gaps of a tour in one state that share one reason, as reports show them.
public struct CoverageGaps: Equatable, Sendable {
  /// The kind of gap.
  public enum Kind: String, Sendable {
    /// Stimuli that were not sent in a state that allows them, or in one that forbids them.
    case legal, empty
    /// Stimuli that were sent, but not under a condition of one of their rows.
    case row
    /// A timer for which the tour has not waited until both ends of its window.
    case timer

    /// The name of the kind, in one column.
    var word: String {
      switch self {
      case .legal: "allowed  "
      case .empty: "forbidden"
      case .row: "row      "
      case .timer: "timer    "
      }
    }
  }

  /// The state.
  public var state: String
  /// The kind of gap.
  public var kind: Kind
  /// The stimuli, in the machine's order, each with the missing condition if there is one; or the timer.
  public var items: [String]
  /// Why they are missing.
  public var reason: String
  /// Whether the tour could have covered them.
  public var isAvoidable: Bool
  /// Whether the device accepts the stimuli at all.
  public var isServed: Bool
  /// The steps from a start to the first of them.
  public var path: [String]

  /// Groups the gaps of one state that share one reason, in the order of their first occurrence.
  public static func grouped(_ gaps: [CoverageGap], of coverage: CellCoverage) -> [CoverageGaps] {
    let definition = coverage.machine.definition
    var groups: [CoverageGaps] = []
    for gap in gaps {
      let state = definition.states[gap.subject.state].name
      let (kind, item) = text(of: gap.subject, in: definition)
      let known = groups.firstIndex { $0.state == state && $0.kind == kind && $0.reason == gap.text }
      if let known {
        groups[known].items.append(item)
      } else {
        groups.append(
          CoverageGaps(
            state: state, kind: kind, items: [item], reason: gap.text, isAvoidable: gap.isAvoidable,
            isServed: gap.isServed, path: gap.path))
      }
    }
    return groups
  }

  private static func text(
    of subject: CoverageGap.Subject, in definition: MachineDefinition
  ) -> (kind: Kind, item: String) {
    switch subject {
    case .cell(let cell): (cell.isLegal ? .legal : .empty, definition.events[cell.event].name)
    case .row(let cell, let conditions, let isRefused):
      (
        .row,
        definition.events[cell.event].name + (isRefused ? " refused" : "")
          + (conditions.isEmpty ? " without a condition" : " given \(conditions.joined(separator: " and "))")
      )
    case .timer(_, let window, let target): (.timer, "\(window) to \(target)")
    }
  }

  /// The gaps as lines. Stimuli that the device does not accept take one line, whatever the number of states.
  public static func lines(of gaps: [CoverageGaps]) -> [String] {
    var unserved: [(items: [String], states: [String])] = []
    for gap in gaps where !gap.isServed {
      if let known = unserved.firstIndex(where: { $0.items == gap.items }) {
        if !unserved[known].states.contains(gap.state) { unserved[known].states.append(gap.state) }
      } else {
        unserved.append((gap.items, [gap.state]))
      }
    }
    return gaps.filter(\.isServed).flatMap(\.lines)
      + unserved.map { item in
        let place = item.states.count == 1 ? item.states[0] : "in \(item.states.count) states"
        return "request    \(place): \(item.items.joined(separator: ", "))   this device does not take it"
      }
  }

  /// The gaps as lines: what is missing, why, and the path that reaches it.
  private var lines: [String] {
    let items = "\(kind.word)  \(state): \(items.joined(separator: ", "))"
    return ["\(items)   \(reason)"] + (path.isEmpty ? [] : ["  try  \(path.joined(separator: " ▸ "))"])
  }
}

extension CoverageGaps: Written {
  public static let fields: [Field<Self>] = [
    .derived("state", \.state, .text), .derived("kind", \.kind.rawValue, .text),
    .derived("stimuli", \.stimuli, .list(.text)), .derived("items", \.items, .list(.text)),
    .derived("legal", \.isLegal, .flag), .derived("reason", \.reason, .text),
    .derived("avoidable", \.isAvoidable, .flag), .derived("path", \.path, .list(.text)),
  ]

  /// The stimuli of cells; empty for rows and timers.
  private var stimuli: [String] { kind == .legal || kind == .empty ? items : [] }
  private var isLegal: Bool { kind != .empty }
}
