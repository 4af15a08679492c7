import Basics
import Journal

/// A variable of the model's machine that may have other values from some event on.
struct VariableChange: Hashable {
  /// A part of a value that changed, as text.
  struct Part: Hashable {
    /// Where in the value: `[0]`, `.anna`; empty for all of it.
    var place = ""
    /// What was there; `nil` for what was added.
    var old: String?
    /// What is there; `nil` for what was removed.
    var new: String?
    /// More about it, such as how many elements there are now.
    var note = ""
  }

  /// The name of the variable.
  let name: String
  /// What changed, the first parts of it.
  let parts: [Part]
  /// The number of further parts.
  let omitted: Int

  private static let (maximumParts, longest) = (3, 120)

  /// Compares what the model holds possible of a variable with what it held possible before.
  ///
  /// - Parameter old: what was possible before; `nil` at the start of a case.
  init(of old: Record.Variable?, to new: Record.Variable) {
    name = new.name
    guard let before = old?.single, let after = new.single else {
      (parts, omitted) = (
        [Part(old: old?.text(to: Self.longest), new: new.text(to: Self.longest))], 0
      )
      return
    }
    let all = Self.parts(from: before, to: after)
    parts = Array(all.prefix(Self.maximumParts))
    omitted = all.count - parts.count
  }

  /// The changes in a line each: `wrong 0 → 1`, `log + {user: 'anna'}`.
  var lines: [String] {
    let lines = parts.map { part in
      let change =
        switch (part.old, part.new) {
        case (let old?, let new?): "\(old) → \(new)"
        case (nil, let new?): (part.isStart ? "= " : "+ ") + new
        case (let old?, nil): "− \(old)"
        case (nil, nil): ""
        }
      return name + part.place + " " + change + (part.note.isEmpty ? "" : ", \(part.note)")
    }
    return omitted > 0 ? lines + ["and \(omitted) more of \(name)"] : lines
  }

  private static func parts(from old: JSON, to new: JSON) -> [Part] {
    switch (old, new) {
    case (.list(let before), .list(let after)): parts(from: before, to: after)
    case (.mapping(let before), .mapping(let after))
    where ![old, new].contains(Record.Variable.unknown):
      parts(from: before, to: after)
    default: [part("", old, new)]
    }
  }

  private static func part(_ place: String, _ old: JSON?, _ new: JSON?) -> Part {
    Part(place: place, old: old?.shown(to: longest), new: new?.shown(to: longest))
  }

  private static func parts(from old: [JSON], to new: [JSON]) -> [Part] {
    if let count = added(old[...], new[...]) {
      let dropped = old.count - (new.count - count)
      return added(Array(new.prefix(count)), "first of \(new.count)", dropped, "last")
    }
    if let count = added(old.reversed()[...], new.reversed()[...]) {
      let dropped = old.count - (new.count - count)
      return added(Array(new.suffix(count)), "last of \(new.count)", dropped, "first")
    }
    if old.count == new.count {
      return old.indices.filter { old[$0] != new[$0] }.map { part("[\($0)]", old[$0], new[$0]) }
    }
    // One stretch was removed.
    let head = zip(old, new).prefix { $0 == $1 }.count
    if old.count > new.count,
      Array(old.suffix(new.count - head)) == Array(new.suffix(new.count - head))
    {
      return old[head..<head + old.count - new.count].map { part("", $0, nil) }
    }
    return [part("", .list(old), .list(new))]
  }

  private static func added(
    _ elements: [JSON], _ note: String, _ dropped: Int, _ end: String
  )
    -> [Part]
  {
    let more =
      dropped > 0 ? "\(note), the \(end) \(dropped == 1 ? "one" : "\(dropped)") dropped" : note
    return elements.map { element in
      var part = part("", nil, element)
      part.note = more
      return part
    }
  }

  /// The number of elements that were added at the beginning of a list, of whose other elements some may have been dropped at
  /// the end; `nil` if it changed in another way.
  private static func added(_ old: ArraySlice<JSON>, _ new: ArraySlice<JSON>) -> Int? {
    guard !new.isEmpty else { return nil }
    return (1...new.count).first { count in
      let kept = new.count - count
      return kept <= old.count && (kept > 0 || old.isEmpty)
        && new.dropFirst(count).elementsEqual(old.prefix(kept))
    }
  }

  private static func parts(from old: [JSON.Member], to new: [JSON.Member]) -> [Part] {
    let (before, after) = (JSON.mapping(old), JSON.mapping(new))
    let names = old.map(\.name) + new.map(\.name).filter { before[$0] == nil }
    return names.filter { before[$0] != after[$0] }.map { part(".\($0)", before[$0], after[$0]) }
  }
}

extension VariableChange.Part {
  /// Whether it is the whole value at the start of a case, and not one that was added.
  var isStart: Bool { place.isEmpty && old == nil && note.isEmpty }
}

extension Record.Variable {
  /// The value, if only one is possible.
  fileprivate var single: JSON? { values.count == 1 && !isMore ? values[0] : nil }

  /// What is possible: a value, `1 or 2`, `one of 5`, `one of more than 8`.
  func text(to longest: Int) -> String {
    if isMore { return "one of more than \(values.count)" }
    let texts = values.map { $0.shown(to: longest) }
    let all = texts.joined(separator: " or ")
    return texts.count > 1 && all.count > longest / 2 ? "one of \(texts.count)" : all
  }
}

extension JSON {
  /// A value of a variable as it is shown to a person; of a long list the first elements, and how many there are.
  fileprivate func shown(to longest: Int) -> String {
    guard case .list(let values) = self, !values.isEmpty, plain.count > longest else {
      return shortened(plain, to: longest)
    }
    var (count, length) = (0, 0)
    while count < values.count, length + values[count].plain.count + 2 <= longest {
      length += values[count].plain.count + 2
      count += 1
    }
    let first = values.prefix(max(1, count)).map { shortened($0.plain, to: longest) }
    return "[\(first.joined(separator: ", ")), … \(values.count) in all]"
  }

  private var plain: String {
    switch self {
    case .text(let text): "'\(text)'"
    case .null: "no value"
    case Record.Variable.unknown: "unknown"
    case .flag(let value): value ? "yes" : "no"
    case .number(let text): text
    case .list(let values): "[\(values.map(\.plain).joined(separator: ", "))]"
    case .mapping(let members):
      "{\(members.map { "\($0.name): \($0.value.plain)" }.joined(separator: ", "))}"
    }
  }
}

/// What the model holds possible of the variables of its machine, in the course of a case.
struct VariableRecord {
  /// A variable, and since when it is as it is.
  struct Entry {
    var variable: Record.Variable
    var since: Instant
  }

  /// All variables, in the order of the machine.
  private(set) var entries: [Entry] = []

  /// Takes what an event changes.
  mutating func take(_ event: Record.Event) -> [VariableChange] {
    event.variables.map { variable in
      guard let index = entries.firstIndex(where: { $0.variable.name == variable.name }) else {
        entries.append(Entry(variable: variable, since: event.time))
        return VariableChange(of: nil, to: variable)
      }
      let old = entries[index].variable
      entries[index] = Entry(variable: variable, since: event.time)
      return VariableChange(of: old, to: variable)
    }
  }
}
