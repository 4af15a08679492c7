import Basics
public import Journal
import System

/// What a history keeps of a run.
public struct RunRecord {
  /// What tells a run from others: it is the same run however often it is taken in, and from wherever.
  ///
  /// Two are equal when their ids are. Host and name are for people: several runs may have them.
  public struct Identity: Sendable {
    /// What nobody else has.
    public var id: String
    /// The host that it ran on; empty where that is unknown.
    public var host: String
    /// Its name.
    public var name: String

    /// Names a run.
    public init(id: String, host: String, name: String) {
      (self.id, self.host, self.name) = (id, host, name)
    }

    /// Names a run that was given no id when it began: its id is made of what is known of it, and so always the same.
    public init(host: String, name: String, started: String, seed: String?) {
      self.init(id: Self.id(of: [host, name, started, seed ?? ""]), host: host, name: name)
    }

    /// Names all goes at a part of a job at once, wherever they were made.
    init(job: String, part: String) { self.init(id: Self.id(of: [job, part]), host: job, name: part) }

    /// 32 hexadecimal digits for some words.
    private static func id(of words: [String]) -> String {
      (0..<2 as Range<UInt64>).map { half in
        var hash = Fingerprint()
        hash.mix(half)
        for word in words {
          hash.mix(word)
          // Ends the word, which no byte of a text can.
          hash.mix(0x100)
        }
        return hash.description
      }.joined()
    }
  }

  /// What a case ran against; what is unknown is empty.
  public struct Setting: Hashable, Sendable {
    /// The device, as a scenario or the command line calls it.
    public var device: String
    /// Its firmware.
    public var firmware: String
    /// The machine that is the model.
    public var machine: String
    /// The hash of the machine.
    public var model: String

    /// Says what a case ran against.
    public init(device: String = "", firmware: String = "", machine: String = "", model: String = "") {
      self.device = device
      self.firmware = firmware
      self.machine = machine
      self.model = model
    }
  }

  /// How a case ended.
  public struct Result: Hashable, Sendable {
    /// The class of the case, as in JUnit.
    public var className: String
    /// Its name there.
    public var name: String
    /// How it ended.
    public var ending: Record.Ending
    /// How often it was tried.
    public var attempts = 1
    /// How long it took, in the time of the device.
    public var milliseconds: Int64
    /// What it ran against.
    public var setting = Setting()
    /// A hash of its scenario, its machine and its program; empty where none of them is known. What was edited in between is
    /// another test.
    public var edition = ""
    /// Its seed, where that is not the seed of the run.
    public var seed: String?
    /// What tells its failure from others, where it failed, also if it agreed at another try.
    public var signature: String?
    /// Why it did not agree, in one line.
    public var message: String?

    /// Says how a case ended.
    public init(className: String, name: String, ending: Record.Ending, milliseconds: Int64) {
      self.className = className
      self.name = name
      self.ending = ending
      self.milliseconds = milliseconds
    }
  }

  /// Which run it is.
  public var identity: Identity
  /// When it started, in UTC as `2026-11-20T22:38:51Z`.
  public var started: String
  /// Its seed.
  public var seed: String?
  /// The revision of the project that was tested.
  public var revision: String?
  /// The version of Lockstep.
  public var version: String?
  /// What it ended with; `nil` for one that did not end.
  public var status: Int?
  /// Its cases, where they are not those of a journal.
  public var results: [Result] = []
  /// The journal that has its cases. Each is read when it is asked for: a run may have a million.
  private var journal: JournalIndex?
  /// Whether it is a go at a part of a job, of which the history keeps the best.
  var isPartOfJob = false

  /// A run without cases.
  public init(identity: Identity, started: String) {
    self.identity = identity
    self.started = started
  }
}

extension RunRecord.Identity: Hashable {
  public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension RunRecord.Identity {
  /// The run that a journal belongs to, as its manifest names it; by its folder where there is none.
  public init(journal: String, _ manifest: Manifest) {
    if let part = manifest.jobPart {
      self.init(job: kept(part.job), part: part.name)
      return
    }
    let folder = journal.split(separator: "/").dropLast().last.map(String.init)
    let (host, name) = (kept(manifest.host ?? ""), kept(manifest.name ?? folder ?? journal))
    if let id = manifest.id, !id.isEmpty {
      self.init(id: kept(id, toBytes: 64), host: host, name: name)
    } else {
      self.init(
        host: host, name: name, started: manifest.moment ?? RunRecord.start(of: name) ?? "",
        seed: manifest.seed.map { String($0) })
    }
  }

  /// The same of a journal that is read.
  init(_ source: JournalIndex.Source) { self.init(journal: source.journal, source.manifest) }

  /// The run of a row that was written when host and name told runs apart.
  init(rowOf host: String, _ name: String, started: String, seed: String?) {
    // Folders of runs are called by the time.
    if JobPart.isName(name) {
      self.init(job: host, part: name)
    } else {
      self.init(host: host, name: name, started: started, seed: seed)
    }
  }
}

extension RunRecord {
  /// Reads what a run left behind.
  ///
  /// - Parameter manifest: the manifest of the run; the file beside the journal unless given.
  /// - Throws: When the journal cannot be read, or nothing says when the run started.
  public init(journal: String, manifest: String? = nil) throws(HistoryError) {
    let index = JournalIndex(journals: [journal], manifests: manifest.map { [$0] } ?? [])
    let source = index.sources[0]
    if let fault = source.fault, !fault.isAbsence { throw .unreadable(journal, fault) }
    guard source.file != nil else {
      throw .run(journal, reason: "\(index.problems.first.map { "\($0)" } ?? "it cannot be read")")
    }
    let identity = Identity(source)
    guard let started = source.manifest.moment ?? Self.start(of: identity.name) else {
      throw .run(journal, reason: "no manifest says when it started")
    }
    self.init(identity: identity, started: started)
    isPartOfJob = source.manifest.jobPart != nil
    revision = source.manifest.properties.first { $0.name == "revision" }.map { kept($0.value.words) }
    version = source.manifest.version.map { kept($0) }
    seed = index.runs.first?.seed.map { String($0) }
    status = index.statuses.first ?? nil
    self.journal = index
  }

  /// The time in the name of a run, such as `2026-11-20T22-38-51-run`.
  fileprivate static func start(of name: String) -> String? {
    var text = Array(name.utf8.prefix(19))
    guard text.count == 19 else { return nil }
    for place in [13, 16] where text[place] == UInt8(ascii: "-") { text[place] = UInt8(ascii: ":") }
    return wholeSeconds(String(decoding: text, as: UTF8.self) + "Z")
  }

  /// Where a case is among those of a run.
  struct Place: Hashable {
    var suite: Int32 = 0
    var position: Int32
  }

  /// Goes through the cases.
  func forEach(_ body: (Place, Result) throws(HistoryError) -> Void) throws(HistoryError) {
    for (number, result) in results.enumerated() { try body(Place(position: Int32(number)), result) }
    guard let journal else { return }
    for (suite, cases) in journal.suites.enumerated() {
      for position in cases.entries.indices {
        let place = Place(suite: Int32(suite), position: Int32(position))
        if let result = try result(at: place) { try body(place, result) }
      }
    }
  }

  /// The case at a place; `nil` for one in whose place another stands.
  func result(at place: Place) throws(HistoryError) -> Result? {
    guard let journal else { return results[Int(place.position)] }
    let suite = journal.suites[Int(place.suite)]
    let entry = suite.entries[Int(place.position)]
    guard let ending = entry.ending else { return nil }
    do {
      return try result(entry, ending, of: suite.name, from: CaseReader(sources: journal.sources))
    } catch {
      throw .run(journal.sources[0].journal, reason: "\(error)")
    }
  }

  /// Reads a case again: its first line, and all of it where one of its tries has more to say.
  private func result(
    _ entry: JournalIndex.Entry, _ ending: Record.Ending, of suite: String, from reader: CaseReader
  ) throws(FileFault) -> Result? {
    guard let start = try reader.start(entry) else { return nil }
    var result = Result(
      className: kept(suite), name: kept(caseName(of: start, copy: entry.copy)), ending: ending,
      milliseconds: entry.milliseconds)
    result.attempts = Int(entry.attempts)
    result.setting = Setting(start)
    result.edition = Self.edition(of: start)
    if start.seed.map({ String($0) }) != seed { result.seed = start.seed.map { String($0) } }
    if ending == .agreed { return result }
    let attempts = try reader.record(entry, of: suite)?.attempts ?? []
    if let failed = attempts.compactMap(\.verdict).last(where: { $0.word != .agree }) {
      result.signature = failed.signature.map { kept($0) }
      result.message = failed.summary.map { kept($0, toBytes: 4000) }
    }
    return result
  }
}

extension RunRecord {
  private static func edition(of start: Record.Case) -> String {
    let parts = [start.text, start.model, start.program]
    guard parts.contains(where: { $0 != nil }) else { return "" }
    return Fingerprint(parts.map { $0 ?? "" }.joined(separator: "\n")).description
  }
}

extension RunRecord.Setting {
  fileprivate init(_ start: Record.Case) {
    // Four of them are together what tells a row from others, and an index holds only so much.
    func part(_ text: String?) -> String { kept(text ?? "", toBytes: 500) }
    self.init(
      device: part(start.device), firmware: part(start.firmware), machine: part(start.machine),
      model: part(start.model))
  }
}
