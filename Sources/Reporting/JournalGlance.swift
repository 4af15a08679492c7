/// What an index needs of a line: the commonest lines are checked to the last byte, and nothing of them is built.
enum JournalGlance {
  case event(milliseconds: Int64, remark: String?)
  case start(Start)
  case verdict(Ended)
  /// A line that is read in whole.
  case other(Journal.Record)

  /// Where the line of a case says what the case is.
  struct Start {
    var id = JSONScanner.Raw(range: 0..<0, kind: .other)
    var name: JSONScanner.Raw?
    var file: JSONScanner.Raw?
    var line: JSONScanner.Raw?
    var machine: JSONScanner.Raw?
    var device: JSONScanner.Raw?
    var firmware: JSONScanner.Raw?
    var model: JSONScanner.Raw?
    var seed: JSONScanner.Raw?
    var attempt = 1
  }

  /// What the line of a verdict says first.
  struct Ended {
    var word: Journal.Word
    var id: JSONScanner.Raw
    var milliseconds: Int64?
    var hasAttachments = false
    /// Whether another try follows.
    var isTriedAgain = false
  }

  /// Looks at a line; `nil` for one of another kind, or of an unusual form, or with a mistake.
  init?(_ line: Span<UInt8>) {
    var scanner = JSONScanner(line)
    guard let glance = try? Self.look(&scanner, line) else { return nil }
    self = glance
  }

  private static func look(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>
  ) throws(JSONError) -> JournalGlance? {
    guard try scanner.beginObject() else { return nil }
    let first = try scanner.rawKey()
    let glance: JournalGlance?
    if scanner.reads(first, "t") {
      glance = try event(&scanner, line)
    } else if scanner.reads(first, "verdict") {
      glance = try verdict(&scanner, line)
    } else if scanner.reads(first, "case") {
      glance = try start(&scanner)
      if glance != nil, try scanner.objectGoesOn() { return nil }
    } else {
      return nil
    }
    if glance != nil { try scanner.expectEnd() }
    return glance
  }

  private static func event(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>
  ) throws(JSONError) -> JournalGlance? {
    let time = try scanner.rawValue()
    guard time.kind != .other, !time.hasEscapes, let time = milliseconds(line.extracting(time.range)) else {
      return nil
    }
    var remark: String?
    while try scanner.objectGoesOn() {
      let key = try scanner.rawKey()
      // A key that makes the line another record, or may be one.
      if key.hasEscapes || scanner.isKind(key) { return nil }
      let value = try scanner.rawValue()
      if scanner.reads(key, "remark") { remark = scanner.text(of: value) }
    }
    return .event(milliseconds: time, remark: remark)
  }

  private static func verdict(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>
  ) throws(JSONError) -> JournalGlance? {
    guard let word = scanner.text(of: try scanner.rawValue()).flatMap(Journal.Word.init) else { return nil }
    var id: JSONScanner.Raw?
    var time: Int64?
    var (hasAttachments, isTriedAgain) = (false, false)
    while try scanner.objectGoesOn() {
      let key = try scanner.rawKey()
      if key.hasEscapes { return nil }
      let value = try scanner.rawValue()
      if scanner.reads(key, "case") {
        guard id == nil, value.kind != .other else { return nil }
        id = value
      } else if scanner.reads(key, "t") {
        guard time == nil, value.kind != .other, !value.hasEscapes else { return nil }
        time = Reporting.milliseconds(line.extracting(value.range))
      } else if scanner.reads(key, "attachments") {
        hasAttachments = true
      } else if scanner.reads(key, "again") {
        isTriedAgain = scanner.reads(value, "true")
      }
    }
    return id.map {
      .verdict(
        Ended(
          word: word, id: $0, milliseconds: time, hasAttachments: hasAttachments, isTriedAgain: isTriedAgain))
    }
  }

  private static func start(_ scanner: inout JSONScanner) throws(JSONError) -> JournalGlance? {
    guard try scanner.isObject(), try scanner.beginObject() else { return nil }
    var start = Start()
    repeat {
      let key = try scanner.rawKey()
      if key.hasEscapes { return nil }
      let value = try scanner.rawValue()
      guard start.take(key, value, scanner) else { return nil }
    } while try scanner.objectGoesOn()
    return start.id.range.isEmpty ? nil : .start(start)
  }
}

extension JournalGlance.Start {
  /// Notes where a value stands; `false` when this is not the first one of its key.
  fileprivate mutating func take(
    _ key: JSONScanner.Raw, _ value: JSONScanner.Raw, _ scanner: borrowing JSONScanner
  ) -> Bool {
    func set(_ place: inout JSONScanner.Raw?) -> Bool {
      if place != nil { return false }
      place = value
      return true
    }
    switch key.range.count {
    case 2 where scanner.reads(key, "id"):
      guard id.range.isEmpty, value.kind != .other else { return false }
      id = value
      return true
    case 4:
      if scanner.reads(key, "name") { return set(&name) }
      if scanner.reads(key, "file") { return set(&file) }
      if scanner.reads(key, "line") { return set(&line) }
      if scanner.reads(key, "seed") { return set(&seed) }
    case 5 where scanner.reads(key, "model"): return set(&model)
    case 6 where scanner.reads(key, "device"): return set(&device)
    case 7:
      if scanner.reads(key, "machine") { return set(&machine) }
      if scanner.reads(key, "attempt") {
        attempt = max(1, value.kind == .number ? scanner.text(of: value).flatMap { Int($0) } ?? 1 : 1)
      }
    case 8 where scanner.reads(key, "firmware"): return set(&firmware)
    default: break
    }
    return true
  }
}

extension JSONScanner {
  /// Whether a key says which kind of line it stands in.
  fileprivate func isKind(_ key: Raw) -> Bool {
    switch key.range.count {
    case 3: reads(key, "run") || reads(key, "end")
    case 4: reads(key, "case")
    case 7: reads(key, "verdict") || reads(key, "machine") || reads(key, "finding")
    case 8: reads(key, "coverage") || reads(key, "campaign")
    default: false
    }
  }
}
