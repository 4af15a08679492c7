import Automata
import Basics
import Documents
import Harness

/// Answers an editor's requests about a position in a document.
struct EditorAnswers {
  let document: OpenDocument
  let workspace: EditorWorkspace
  let encoding: PositionEncoding

  init(_ document: OpenDocument, _ workspace: EditorWorkspace, _ encoding: PositionEncoding) {
    self.document = document
    self.workspace = workspace
    self.encoding = encoding
  }

  private var text: EditorText { document.text }
}

// MARK: - Completion

extension EditorAnswers {
  /// The kind of a completion item, as numbered by the protocol.
  private enum Kind: Int {
    case value = 12
    case keyword = 14
    case property = 10
  }

  private struct Item {
    var label: String
    var kind: Kind
    var detail: String?
    var text: String
  }

  /// Returns the completions at a position.
  func completions(at offset: Int) -> [JSON] {
    let context = CursorContext(in: text, at: offset)
    let range = document.json(of: min(context.start, offset)..<offset, encoding)
    var seen = Set<String>()
    return items(context).filter { seen.insert($0.text).inserted }.enumerated().map { number, item in
      // By default editors sort by label; the order of the grammar is more useful.
      .omittingNil([
        "label": .text(item.label), "kind": .integer(item.kind.rawValue),
        "detail": item.detail.map(JSON.text), "sortText": .text(number.padded(to: 4)),
        "textEdit": ["range": range, "newText": .text(item.text)],
      ])
    }
  }

  private func items(_ context: CursorContext) -> [Item] {
    guard context.isKey || context.isValue, document.isYAML else {
      return []
    }
    var items: [Item] = []
    for form in forms(at: context.path) {
      if context.isFirstOnLine, context.isValue, form.isList {
        items += members(context.path + [.item], lead: "- ")
      }
      if context.isValue { items += words(form, lead: "") }
      if context.isKey { items += keys(form, without: context.keys, lead: "") }
    }
    return context.isValue ? items + names(at: context.path) : items
  }

  private func members(_ path: [Form.PathComponent], lead: String) -> [Item] {
    forms(at: path).flatMap { words($0, lead: lead) + keys($0, without: [], lead: lead) }
      + names(at: path).map { name in
        var name = name
        name.text = lead + name.text
        return name
      }
  }

  private func words(_ form: Form, lead: String) -> [Item] {
    form.choices.map { Item(label: $0, kind: .value, detail: nil, text: lead + Node.scalarText($0)) }
  }

  private func keys(_ form: Form, without keys: [String], lead: String) -> [Item] {
    if form.isSingle, !keys.isEmpty { return [] }
    return form.fields.filter { !keys.contains($0.name) }.map { field in
      Item(
        label: field.name, kind: .property, detail: field.summary,
        text: lead + Node.scalarText(field.name) + ": ")
    }
  }

  /// Returns the forms of the value at a path.
  private func forms(at path: [Form.PathComponent]) -> [Form] {
    let known = workspace.forms(of: document)
    guard document.kind == nil, path.isEmpty else {
      return known.scenario.forms(at: path, definitions: known.definitions)
    }
    // An empty document may become either.
    return [known.scenario, MachineDefinition.form]
  }

  /// Returns the names that are not in the forms: machines, devices, and the definitions in a machine file.
  private func names(at path: [Form.PathComponent]) -> [Item] {
    func items(_ names: [String]) -> [Item] {
      names.map { Item(label: $0, kind: .value, detail: nil, text: Node.scalarText($0)) }
    }
    switch (document.kind, path) {
    case (.machine?, _): return items(MachineNames(text).names(at: path))
    case (_, [.key("machine")]): return items(workspace.machineNames)
    case (_, [.key("device")]), (_, [.key("device"), .key("lock")]), (_, [.key("device"), .key("emulator")]):
      return items(workspace.deviceNames)
    default: return []
    }
  }
}

// MARK: - Hover

extension EditorAnswers {
  /// Returns the hover text for the word at a position.
  func hover(at offset: Int) -> JSON? {
    let range = CursorContext.word(in: text, at: offset)
    let context = CursorContext(in: text, at: range.upperBound)
    guard document.isYAML, !context.word.isEmpty, range.contains(offset) || range.upperBound == offset else {
      return nil
    }
    let isKey = range.upperBound < text.bytes.count && text.bytes[range.upperBound] == UInt8(ascii: ":")
    let parts = (isKey ? [documentation(context)] : []) + [meaning(of: context)]
    let said = parts.compactMap { $0 }
    guard !said.isEmpty else { return nil }
    return [
      "contents": ["kind": "markdown", "value": .text(said.joined(separator: "\n\n"))],
      "range": document.json(of: range, encoding),
    ]
  }

  private func documentation(_ context: CursorContext) -> String? {
    let field = forms(at: context.path).lazy.flatMap(\.fields).first { $0.name == context.word }
    return field.map { "**\(context.word)**: \($0.summary)" }
  }

  /// Returns the description of a name in the machine.
  private func meaning(of context: CursorContext) -> String? {
    guard let definition = definition, Self.isName(context, in: document.kind) else { return nil }
    let name = context.word
    if definition.events.contains(where: { $0.name == name }) {
      return listed(name, definition, definition.transitions.filter { $0.trigger == .event(name) })
    }
    let states = definition.states.filter { $0.name == name || $0.status == name }.map(\.name)
    guard !states.isEmpty else { return nil }
    return listed(name, definition, definition.transitions.filter { $0.touches(states) })
  }

  private func listed(_ name: String, _ definition: MachineDefinition, _ rows: [Transition]) -> String {
    let limit = 30
    let lines =
      rows.prefix(limit).map(\.line) + (rows.count > limit ? ["and \(rows.count - limit) more"] : [])
    let head = "**\(name)** of the machine `\(definition.name)`"
    return lines.isEmpty ? head : head + "\n\n```text\n" + lines.joined(separator: "\n") + "\n```"
  }

  /// The machine of the document, which may be a machine file itself.
  private var definition: MachineDefinition? {
    guard document.kind == .machine else { return workspace.machine(of: document)?.machine.definition }
    return try? MachineFile(text.bytes, name: document.path).definition
  }

  /// Returns whether a word may name a stimulus, status, state or event, unlike a title for example.
  private static func isName(_ context: CursorContext, in kind: DocumentKind?) -> Bool {
    switch (kind, context.path.first) {
    case (.scenario?, .key("steps")?): !context.path.contains(.key("note"))
    case (.machine?, .key(let key)?):
      ["states", "regions", "events", "starts", "transitions", "conditions", "rules"].contains(key)
    default: false
    }
  }
}

extension Transition {
  /// Returns whether the transition begins or ends in one of these states.
  fileprivate func touches(_ states: [String]) -> Bool {
    if case .states(let names) = from, names.contains(where: states.contains) { return true }
    switch to {
    case .states(let names), .shift(let names): return names.contains(where: states.contains)
    case .stay: return false
    }
  }
}

// MARK: - Definition

extension EditorAnswers {
  /// Returns the locations of the definition of the word at a position.
  func definitions(at offset: Int) -> [JSON] {
    let range = CursorContext.word(in: text, at: offset)
    let context = CursorContext(in: text, at: range.upperBound)
    guard document.isYAML, !context.word.isEmpty else { return [] }
    if document.kind == .machine {
      guard let file = try? MachineFile(text.bytes, name: document.path) else { return [] }
      return parts(named: context, of: file).map { location(document, file.place(of: $0)) }
    }
    guard let machine = workspace.machine(of: document), machine.isFile,
      let file = try? workspace.file(machine.label)
    else { return [] }
    let there = OpenDocument(uri: FileURI.uri(of: machine.label), of: file.source)
    if context.path == [.key("machine")] { return [location(there, file.place(of: .machine))] }
    return parts(named: context, of: file).map { location(there, file.place(of: $0)) }
  }

  private func parts(named context: CursorContext, of file: MachineFile) -> [DefinitionFinding.Place] {
    guard Self.isName(context, in: document.kind) else { return [] }
    let (definition, name) = (file.definition, context.word)
    let events = definition.events.indices.filter { definition.events[$0].name == name }
    if !events.isEmpty { return events.map { .event($0) } }
    let states = definition.states.indices.filter { definition.states[$0].name == name }
    if !states.isEmpty, document.kind == .machine { return states.map { .state($0) } }
    let shown = definition.states.indices.filter { definition.states[$0].status == name }
    if !shown.isEmpty { return shown.map { .state($0) } }
    return definition.conditions.indices
      .filter { definition.conditions[$0].name == name || definition.conditions[$0].faults.contains(name) }
      .map { .condition($0) }
  }

  private func location(_ document: OpenDocument, _ place: (start: Position, end: Position)) -> JSON {
    let start = place.start.offset
    let end = min(place.end.offset, document.text.line(document.text.lineNumber(of: start)).upperBound)
    return ["uri": .text(document.uri), "range": document.json(of: start..<max(start, end), encoding)]
  }
}

/// The names that an incomplete machine file defines.
private struct MachineNames {
  private var states: [String] = []
  private var statuses: [String] = []
  private var events: [String] = []
  private var conditions: [String] = []
  /// The states of each region.
  private var regions: [String: [String]] = [:]

  init(_ text: EditorText) {
    // An incomplete file is rarely valid as a whole: read the sections that define names individually.
    for section in Self.sections(text) {
      guard let document = try? Document(section, name: "") else { continue }
      let entry = document.root.entries?.first
      let items = entry?.value.members ?? []
      let names = items.compactMap { $0.text ?? $0["name"]?.text ?? $0.entries?.first?.key.text }
      switch entry?.key.text {
      case "states":
        states = names
        statuses = items.compactMap { item in
          item["status"]?.text ?? (item.text ?? item["name"]?.text).map { State($0).status }
        }
      case "events": events = names
      case "conditions": conditions = names
      case "regions":
        for region in entry?.value.entries ?? [] {
          let states = region.value["states"]?.members ?? []
          regions[region.key.text ?? ""] = states.compactMap { $0.text ?? $0["name"]?.text }
        }
      default: break
      }
    }
  }

  /// Returns the text of each top-level key.
  private static func sections(_ text: EditorText) -> [[UInt8]] {
    var sections: [[UInt8]] = []
    for line in text.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let first = line.first ?? UInt8(ascii: " ")
      let continues = [
        UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "#"),
      ]
      if sections.isEmpty || !continues.contains(first) { sections.append([]) }
      sections[sections.count - 1] += line + [UInt8(ascii: "\n")]
    }
    return sections
  }

  /// Returns the names that are valid at a path.
  func names(at path: [Form.PathComponent]) -> [String] {
    let list = path.last == .item ? path.dropLast() : path[...]
    guard case .key(var section)? = path.first, case .key(let key)? = list.last else { return [] }
    if path.contains(.key("in")) || section == "starts" && path.contains(.key("state")),
      let states = regions[key]
    {
      return states
    }
    var states = states
    if section == "regions", path.count > 2, case .key(let region) = path[1], case .key(let part) = path[2] {
      states = regions[region] ?? []
      section = part
    }
    switch (section, key) {
    case ("start", "start"): return states
    case ("transitions", "from"): return states + ["*"]
    case ("transitions", "to"): return states + ["="]
    case ("transitions", "shift"), ("starts", "state"): return states
    case ("transitions", "event"), ("conditions", "events"): return events
    case ("transitions", "given"), ("transitions", "unless"), ("transitions", "plus"),
      ("conditions", "unsure"):
      return conditions
    case ("conditions", "until"): return statuses
    case ("conditions", "stimuli"): return events
    default: return []
    }
  }
}
