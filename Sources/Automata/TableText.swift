import Basics

extension MachineDefinition {
  /// Returns the transition table with one column per state and one row per event, in the words of the table
  /// notation.
  ///
  /// An empty cell is a refusal. The lines below the table give what has no cell: starts, the causes of events, entry
  /// actions, conditions and choices.
  public func table() -> String {
    var lines = [summary.isEmpty ? name : "\(name): \(summary)", ""]
    let grid = grid()
    let widths = grid[0].indices.map { column in grid.map { $0[column].count }.max() ?? 0 }
    for (number, cells) in grid.enumerated() {
      let padded = zip(cells, widths).map { $0.leftAligned(in: $1) }
      lines.append(trimEnd(padded.joined(separator: "  ")))
      if number == 0 {
        lines.append(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
      }
    }
    let notes = notes()
    return (lines + (notes.isEmpty ? [] : [""] + notes)).joined(separator: "\n") + "\n"
  }

  /// Returns the transition table for a terminal: whole if it fits, and otherwise state by state, with the possible
  /// events of each.
  ///
  /// - Parameters:
  ///   - columns: The maximum width of a line, as far as names allow.
  ///   - regions: The region of each state; empty if there is only one.
  public func table(within columns: Int, regions: [String]) -> String {
    let whole = table()
    if whole.split(separator: "\n").allSatisfy({ $0.count <= columns }) { return whole }
    let grid = grid()
    var lines = wrapped(summary.isEmpty ? name : "\(name): \(summary)", to: columns)
    var names = Roster<String>()
    for region in regions { names.number(region) }
    for region in names.values {
      let members = states.indices.filter { regions[$0] == region }
      if !region.isEmpty {
        lines += ["", "-- \(region) " + String(repeating: "-", count: max(0, columns - region.count - 4))]
      }
      for state in members {
        lines += ["", states[state].name]
        for row in grid.dropFirst() where !row[state + 1].isEmpty {
          lines += entry(row[0], row[state + 1], within: columns)
        }
      }
    }
    for note in [""] + notes() { lines += hanging(note, within: columns) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns an event of a state and its target: next to each other if there is room, and otherwise one below the
  /// other.
  private func entry(_ label: String, _ cell: String, within columns: Int) -> [String] {
    let (indent, room) = ("    ", columns / 2 - 6)
    let head = indent + label.leftAligned(in: room) + "  " + cell
    if label.count <= room, head.count <= columns { return [head] }
    return wrapped(label, to: columns - 4).map { indent + $0 }
      + wrapped(cell, to: columns - room - 6).map { spaces(room + 6) + $0 }
  }

  private func hanging(_ note: String, within columns: Int) -> [String] {
    wrapped(note, to: columns - 4).enumerated().map { ($0 == 0 ? "" : "    ") + $1 }
  }

  /// Returns the transition table as Markdown; see ``table()``.
  public func markdown() -> String {
    var lines = ["# \(name)", ""]
    if !summary.isEmpty { lines += [summary, ""] }
    for (number, cells) in grid().enumerated() {
      lines.append("| " + cells.map(escaped).joined(separator: " | ") + " |")
      if number == 0 { lines.append("|" + cells.map { _ in ":---:|" }.joined()) }
    }
    let notes = notes()
    if !notes.isEmpty { lines += [""] + notes.map { "- " + escaped($0) } }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the head, and a row for each event and set of conditions, in order of appearance.
  private func grid() -> [[String]] {
    var numbers: [String: Int] = [:]
    for (number, state) in states.enumerated() { numbers[state.name] = number }
    let wildcards = Wildcards(self)
    var labels = Roster<RowLabel>()
    var cells: [[String]] = []
    for transition in transitions {
      let row = labels.number(RowLabel(transition))
      if row == cells.count { cells.append([String](repeating: "", count: states.count)) }
      let cell = cell(transition)
      for column in wildcards.sources(of: transition).compactMap({ numbers[$0] }) {
        cells[row][column] += cells[row][column].isEmpty ? cell : " or \(cell)"
      }
    }
    let rows = zip(labels.values, cells).map { [$0.description] + $1 }
    return [["action/status"] + states.map(\.head)] + rows
  }

  private func cell(_ transition: Transition) -> String {
    let target =
      switch transition.to {
      case .states(let names): names.joined(separator: "/")
      case .shift(let names): "> " + names.joined(separator: "/")
      case .stay: "="
      }
    let shown = transition.shows.map { " [\($0)]" } ?? ""
    let condition = transition.data.when.map { "[\($0)] " } ?? ""
    return condition + target + shown + transition.effectText + (transition.origin == .ours ? " *" : "")
  }

  private func notes() -> [String] {
    var notes = starts.map { start in
      let settings = start.conditions.map { ($0.value ? "" : "not ") + $0.name }
      return "starts in \(start.state)"
        + (settings.isEmpty ? "" : " when " + settings.joined(separator: ", "))
    }
    let kinds: [(Event.Kind, String)] = [
      (.spontaneous, "happen by themselves"), (.both, "happen by themselves where they have a time"),
    ]
    for (kind, text) in kinds {
      let names = events.filter { $0.kind == kind }.map(\.name)
      if !names.isEmpty { notes.append("\(text): " + names.joined(separator: ", ")) }
    }
    for state in states where !state.entry.isEmpty {
      notes.append("entering \(state.name): " + state.entry.joined(separator: ", "))
    }
    for item in conditions {
      let faults = item.faults.isEmpty ? "" : ", by the faults " + item.faults.joined(separator: ", ")
      let delay = item.delay == Condition.usualDelay ? "" : ", after \(item.delay)"
      let stimuli = item.stimuli.isEmpty ? "" : ", by " + item.stimuli.joined(separator: ", ")
      let unsure = item.unsure.isEmpty ? "" : ", unsure given " + item.unsure.joined(separator: " or ")
      let moments = item.moments.isEmpty ? "" : ", for a moment by " + item.moments.joined(separator: ", ")
      let events = item.events.isEmpty ? "" : ", with " + item.events.joined(separator: ", ")
      let reading = item.reading.map { ", as the reading \($0) tells" } ?? ""
      let end =
        (item.until.isEmpty ? "" : ", until " + item.until.joined(separator: " or "))
        + (item.countsFromEntry ? ", from the next state on" : "")
      notes.append(
        "condition \(item.name)\(faults)\(moments)\(events)\(stimuli)\(unsure)\(reading)\(end)\(delay)")
    }
    for choice in choices {
      notes.append(
        "choice \(choice.name), made once by a device: " + choice.options.joined(separator: " or "))
    }
    for variable in variables {
      notes.append(
        "variable \(variable.name), \(variable.form.kind.expectation), "
          + (variable.first.map { "\($0) at first" } ?? "unknown at first"))
    }
    for rule in rules {
      let sentences = rule.machine.states.filter { $0.status == TraceRule.broken }.map(\.name)
      notes.append("rule \(rule.machine.name), broken by: " + sentences.joined(separator: "; "))
    }
    for row in transitions where !row.data.isEmpty {
      let words = row.data.words.filter { !$0.hasPrefix("[") }
      if !words.isEmpty {
        notes.append(
          "\(RowLabel(row))" + (row.data.when.map { " [\($0)]" } ?? "") + ": " + words.joined(separator: ", ")
        )
      }
    }
    if transitions.contains(where: { $0.origin == .ours }) {
      notes.append("* ours, where the document is silent")
    }
    return notes
  }
}

/// Returns text for Markdown in which nothing ends a cell or a line by accident.
private func escaped(_ text: String) -> String {
  var result = ""
  for character in text {
    switch character {
    case "|", "\\", "*", "_", "`", "<": result += "\\\(character)"
    case "\n", "\r\n", "\r": result += " "
    default: result.append(character)
    }
  }
  return result
}

private func trimEnd(_ text: String) -> String {
  var text = text
  while text.last == " " { text.removeLast() }
  return text
}

extension State {
  /// The name, and the status if the name does not imply it.
  fileprivate var head: String { status == State.status(of: name) ? name : "\(name) [\(status)]" }
}
