import Automata
import Basics
public import Conformance
public import Journal

/// What a tour did not visit in one state for one reason, as a person reads it.
public struct CoverageGaps: Equatable, Sendable {
  /// The state.
  public var state: String
  /// The stimuli, in the order of the machine.
  public var stimuli: [String]
  /// Whether they are allowed there.
  public var isLegal: Bool
  /// Why they are missing.
  public var reason: String
  /// What to do from a start to try the first of them.
  public var path: [String]

  /// Puts together the gaps of one state that have one reason, in the order in which they come.
  public static func grouped(_ gaps: [CoverageGap], of coverage: CellCoverage) -> [CoverageGaps] {
    let definition = coverage.machine.definition
    var groups: [CoverageGaps] = []
    for gap in gaps {
      let state = definition.states[gap.cell.state].name
      let stimulus = definition.events[gap.cell.event].name
      let known = groups.firstIndex {
        $0.state == state && $0.isLegal == gap.cell.isLegal && $0.reason == gap.text
      }
      if let known {
        groups[known].stimuli.append(stimulus)
      } else {
        groups.append(
          CoverageGaps(
            state: state, stimuli: [stimulus], isLegal: gap.cell.isLegal, reason: gap.text, path: gap.path))
      }
    }
    return groups
  }

  /// In lines: what is missing and why, and the way to try it.
  public var lines: [String] {
    let cells = "\(isLegal ? "allowed  " : "forbidden")  \(state): \(stimuli.joined(separator: ", "))"
    return ["\(cells)   \(reason)"] + (path.isEmpty ? [] : ["  try  \(path.joined(separator: " ▸ "))"])
  }
}

extension CoverageGaps: Written {
  public static let fields: [Field<Self>] = [
    .derived("state", \.state, .text), .derived("stimuli", \.stimuli, .list(.text)),
    .derived("legal", \.isLegal, .flag), .derived("reason", \.reason, .text),
    .derived("path", \.path, .list(.text)),
  ]
}
