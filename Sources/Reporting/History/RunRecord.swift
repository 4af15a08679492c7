import Basics
public import Journal
import System

/// The data of a run in a history.
public struct RunRecord {
  /// The identity of a run, which is the same however often and from wherever it is added.
  ///
  /// Identities with equal ids are equal. Host and name are for people: several runs may have them.
  public struct Identity: Sendable {
    /// The unique id.
    public var id: String
    /// The host of the run; empty if it is unknown.
    public var host: String
    /// Its name.
    public var name: String

    /// Makes an identity.
    public init(id: String, host: String, name: String) {
      (self.id, self.host, self.name) = (id, host, name)
    }

    /// Makes the identity of a run without an id: the id is derived from the other properties, and so always
    /// the same.
    public init(host: String, name: String, started: String, seed: String?) {
      self.init(id: Self.id(of: [host, name, started, seed ?? ""]), host: host, name: name)
    }

    /// Makes the common identity of all attempts at a part of a job, wherever they were made.
    init(job: String, part: String) { self.init(id: Self.id(of: [job, part]), host: job, name: part) }

    /// 32 hexadecimal digits derived from some words.
    private static func id(of words: [String]) -> String {
      (0..<2 as Range<UInt64>).map { half in
        var hash = Fingerprint()
        hash.mix(half)
        for word in words {
          hash.mix(word)
          // Terminates the word; no text contains this byte.
          hash.mix(0x100)
        }
        return hash.description
      }.joined()
    }
  }

  /// The device and the machine of a case; unknown parts are empty.
  public struct Setting: Hashable, Sendable {
    /// The device, as named in a scenario or on the command line.
    public var device: String
    /// Its firmware.
    public var firmware: String
    /// The machine of the model.
    public var machine: String
    /// The hash of the machine.
    public var model: String

    /// Makes a setting.
    public init(device: String = "", firmware: String = "", machine: String = "", model: String = "") {
      self.device = device
      self.firmware = firmware
      self.machine = machine
      self.model = model
    }
  }

  /// The result of a case.
  public struct Result: Hashable, Sendable {
    /// The class of the case, as in JUnit.
    public var className: String
    /// Its name there.
    public var name: String
    /// The ending.
    public var ending: Record.Ending
    /// The number of attempts.
    public var attempts = 1
    /// The duration in the time of the device.
    public var milliseconds: Int64
    /// The device and the machine.
    public var setting = Setting()
    /// A hash of its scenario, its machine and its program; empty if none of them is known. An edited one is
    /// another test.
    public var edition = ""
    /// Its seed, if that is not the seed of the run.
    public var seed: String?
    /// The signature of its failure, even if a retry passed.
    public var signature: String?
    /// Why it did not agree, in one line.
    public var message: String?

    /// Makes a result.
    public init(className: String, name: String, ending: Record.Ending, milliseconds: Int64) {
      self.className = className
      self.name = name
      self.ending = ending
      self.milliseconds = milliseconds
    }
  }

  /// The identity of the run.
  public var identity: Identity
  /// The start in UTC: `2026-11-20T22:38:51Z`.
  public var started: String
  /// Its seed.
  public var seed: String?
  /// The revision of the project that was tested.
  public var revision: String?
  /// The version of Lockstep.
  public var version: String?
  /// The exit status; `nil` for a run that did not end.
  public var status: Int?
  /// Its cases, if they do not come from a journal.
  public var results: [Result] = []
  /// The journal with its cases. Each is read when needed: a run may have a million.
  private var journal: JournalIndex?
  /// Whether it is an attempt at a part of a job, of which the history keeps the best.
  var isPartOfJob = false

  /// Makes a run without cases.
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
  /// The identity of a journal's run by its manifest, or else by its folder.
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

  /// The identity of the run of a journal.
  init(_ source: JournalIndex.Source) { self.init(journal: source.journal, source.manifest) }

  /// The identity of a row from before identities, when host and name distinguished runs.
  init(rowOf host: String, _ name: String, started: String, seed: String?) {
    // Folders of runs are named by the time.
    if JobPart.isName(name) {
      self.init(job: host, part: name)
    } else {
      self.init(host: host, name: name, started: started, seed: seed)
    }
  }
}

extension RunRecord {
  /// Reads the results of a run.
  ///
  /// - Parameter manifest: the manifest of the run; by default the file beside the journal.
  /// - Throws: if the journal cannot be read, or the start of the run is unknown.
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

  /// The place of a case in a run.
  struct Place: Hashable {
    var suite: Int32 = 0
    var position: Int32
  }

  /// Enumerates the cases.
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

  /// The case at a place; `nil` if it was replaced by another one.
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

  /// Reads a case again: its first line, and all of it if one of its attempts has more data.
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
    // The four of them together identify a row, and an index has a size limit.
    func part(_ text: String?) -> String { kept(text ?? "", toBytes: 500) }
    self.init(
      device: part(start.device), firmware: part(start.firmware), machine: part(start.machine),
      model: part(start.model))
  }
}
