import Basics
package import System

/// The position and the ending of each case of one or several journals.
///
/// This is enough to count and to order the cases, and small enough for a million of them.
///
/// Some cases are replaced: a case without a verdict, and that of a campaign, when the resumed run has it again; and
/// the case of a finding, when another case shows the finding in fewer events.
///
/// The journals are sorted by when and where their runs were made, so that the order of the arguments does not matter.
package struct JournalIndex {
  /// A finding, and the index of the case that represents it.
  package struct Found {
    package var finding: Record.Finding
    package var caseIndex: Int?
    /// The evidence that this case provides.
    var evidence: Record.Finding.Evidence?
  }

  /// The verdict on a case that did not pass, and the index of the case.
  package struct Failure {
    package var caseIndex: Int
    package var verdict: Record.Verdict
  }

  /// A case.
  package struct Entry {
    /// The index of its journal in the order of reading.
    package var journal: Int32 = 0
    /// The position of the line that starts the case: its byte offset, and its line number.
    package var offset: Int
    package var line: Int
    /// The number of the case among those with the same name in the same suite, from 1.
    package var copy: Int32
    /// How it ended; `nil` if another case replaces it.
    package var ending: Record.Ending?
    /// The number of attempts. They are consecutive, and each extends from its first line to its verdict.
    package var attempts: Int32 = 1
    /// Whether model and device agreed in the last attempt.
    package var hasAgreed: Bool { ending?.word == .agree }
    /// Whether they agreed, but not at the first attempt.
    package var isFlaky: Bool { ending?.isFlaky ?? false }
    /// Whether reports show details even if the case passed: messages of the lab, or files.
    package var hasDiagnostics = false
    /// How long it took, in device time.
    package var milliseconds: Int64
    /// When its first attempt started, and how long all attempts took together; `nil` if this is unknown.
    package var time: CaseTime?
    /// The time of each attempt, if there were several.
    package var attemptTimes: [CaseTime?] = []
    /// How long it took, by the clock of the host or, if that is unknown, in device time.
    package var takenMilliseconds: Int64 {
      time.map { (Instant.zero + $0.taken).milliseconds } ?? milliseconds
    }
    /// The number of device observations on which the last attempt rests; zero if they were not counted.
    package var observations = 0
  }

  /// A journal, and the manifest of its run.
  package struct Source {
    package var journal: String
    package var manifest: Manifest
    /// Why the journal or the manifest cannot be read, although it exists or should exist.
    package var fault: FileFault?
    /// The expected path of the manifest, if there is none.
    package var missing: String?
    /// The open journal; `nil` if it cannot be read.
    package var file: JournalSource?
  }

  /// Whether the index excludes all data that differ between two runs of one seed.
  package let isReproducible: Bool
  /// The journals in the order of reading.
  package internal(set) var sources: [Source] = []
  /// The run lines: the last one of each journal.
  package internal(set) var runs: [Record.Run] = []
  package internal(set) var coverage: [Record.Coverage] = []
  /// The machines that the coverage refers to: the first line of each.
  package internal(set) var machines: [Record.Machine] = []
  /// The messages of the lab outside cases, such as how it left a lock at the end.
  package internal(set) var diagnostics: [String] = []
  /// The lines after the end of a run that are not records, such as the output of another program. They are left out,
  /// and do not change the result of the run.
  package internal(set) var omissions: [String] = []
  /// The missing parts of the job, if the only run is one of its parts.
  package internal(set) var partsElsewhere: [String] = []
  /// A sentence about each run with copies.
  package internal(set) var copies: [String] = []
  /// The problems of the journals, and the results of runs that their cases do not explain.
  package internal(set) var problems: [JournalProblem] = []
  /// The same problems, and a shortfall of verdicts; reports show each of these as a case of its own.
  package var remarks: [JournalProblem] {
    problems + (tally.tooLittle.map { [JournalProblem(line: 0, message: $0, status: .incomplete)] } ?? [])
  }
  /// The combined result of the runs; ``Tally/exitStatus`` is how they ended.
  package internal(set) var tally = Tally()
  private let minimum: MinimumVerdicts
  /// The findings of all campaigns, each once.
  package internal(set) var findings: [Found] = []
  /// The progress of each campaign, and the case that represents it.
  package internal(set) var campaigns: [(status: CampaignStatus, caseIndex: Int?)] = []
  /// The first cases that did not pass.
  package internal(set) var failures: [Failure] = []
  /// The exit status of each run; `nil` for a run that did not end.
  package internal(set) var statuses: [Int?] = []
  /// The number of device observations on which the agreements rest, as far as the journals contain it.
  package var observations: Int { tally.observations }
  /// The planned cases of the runs that did not end, and how many of these were not started, as far as the journals
  /// contain them.
  package internal(set) var missing: (of: Int, cases: Int) = (0, 0)

  /// The options that devices showed of choices that each makes once, in the order of cases and journals.
  private var choices = ShownChoices()
  /// The contradictions between cases that agree individually, at most one for each choice of a device.
  private var contradictions: [(held: ShownChoices.Known, message: String)] = []

  var table = CaseTable()
  /// The hash of the suite and the name of each case.
  var names = Pages<UInt64>()
  var suiteTable = SuiteTable()
  /// The suites in the order of their names, with their cases in the order of the journals.
  private var order = SuiteOrder()

  var findingNumbers: [String: Int] = [:]
  var reading = Reading()
  var open: Open?

  /// The state of the journal that is being read.
  struct Reading {
    /// The cases that a resumed run would replace, by id: those of this session, and those of earlier sessions.
    var provisional: (now: [UInt64: Int], earlier: [UInt64: Int]) = ([:], [:])
    /// The last case that ended.
    var last: (id: [UInt8], caseIndex: Int, attempts: CaseAttempts)?
    /// The finding that the next case shows, and the finding that the current case shows.
    var (next, shown): (Shown?, Shown?)
    /// The verdict on the first failed attempt of the current case, if it has several attempts.
    var failure: Record.Verdict?
    /// The endings of its cases, including replaced ones.
    var endings = Tally()
    var run: Record.Run?
    var ending: Record.End?
    var times: CaseTimes?
    /// The progress of its campaign, and the case that represents it; later sessions include earlier ones.
    var campaign: (status: CampaignStatus, caseIndex: Int?)?
    /// The lines after the end that are not records.
    var foreign: (first: JournalProblem?, count: Int) = (nil, 0)
    /// The number of cases, and how many of them were replaced.
    var cases = 0
    var replaced = 0
    /// The index of its first case.
    var first = 0
    /// The device and the machine of the current case.
    var (device, machine) = (RepeatedText(), RepeatedText())
  }

  /// A finding as the case after it shows it, and its index among all findings.
  struct Shown {
    var number: Int
    var finding: Record.Finding
  }

  /// The case whose verdict is still to come.
  struct Open {
    var id: [UInt8]
    var suite: Int
    var name: UInt64
    var entry: Entry
    var attempts = CaseAttempts()
  }

  /// The maximum number of listed problems.
  static let problemLimit = 100
  static let failureLimit = 1000

  /// Reads journals, each from its first line to its last, or as far as it is readable.
  ///
  /// - Parameters:
  ///   - manifests: The manifests of the runs, one for each journal; if empty, the files next to the journals.
  ///   - isReproducible: Whether to exclude all data that differ between two runs of one seed.
  ///   - minimum: The minimum of verdicts in all journals together.
  package init(
    journals: [String], manifests: [String] = [], isReproducible: Bool = false,
    minimum: MinimumVerdicts = MinimumVerdicts()
  ) {
    var seen: Set<ExactText> = []
    var sources: [Source] = []
    // Patterns may overlap: a journal with two names counts once.
    for (number, journal) in journals.enumerated()
    where seen.insert(ExactText(realPath(journal) ?? journal)).inserted {
      sources.append(Source(journal, manifest: number < manifests.count ? manifests[number] : nil))
    }
    sources.sort { $0.key.lexicographicallyPrecedes($1.key) }
    let copies: [String]
    (sources, copies) = Self.withoutCopies(sources)
    sources = Self.representatives(of: sources)
    let missing = Self.missingParts(of: sources)
    if isReproducible {
      for number in sources.indices { sources[number].forget() }
    }
    self.init(sources, isReproducible: isReproducible, minimum: minimum)
    self.copies = copies
    // A report on one part is expected to lack the others; a report on several parts must be complete.
    if sources.count == 1 {
      partsElsewhere = missing
    } else {
      for words in missing { add(JournalProblem(line: 0, message: words)) }
      sumUp()
    }
  }

  /// Reads one journal, even if another run represents its part.
  package init(alone source: Source) {
    self.init([source], isReproducible: false, minimum: MinimumVerdicts())
  }

  private init(_ ordered: [Source], isReproducible: Bool, minimum: MinimumVerdicts) {
    sources = ordered
    self.minimum = minimum
    self.isReproducible = isReproducible
    for number in sources.indices {
      if let fault = sources[number].fault { add(JournalProblem(line: 0, message: "\(fault)")) }
      if let path = sources[number].missing {
        omissions.append(
          "\(path) is not there: which run it was, and whether it is part of one, is not known")
      }
      do throws(FileFault) {
        let file = try JournalSource(sources[number].journal, isReproducible: isReproducible)
        sources[number].file = file
        read(
          &file.reader, Int32(clamping: number),
          isReproducible ? nil : CaseTimes(besides: sources[number].journal))
      } catch {
        sources[number].fault = error
        add(JournalProblem(line: 0, message: "\(error)"))
        statuses.append(nil)
      }
    }
    for item in contradictions { add(JournalProblem(line: 0, message: item.message, status: .divergence)) }
    order = SuiteOrder(suiteTable, table)
    for (start, end) in zip(order.starts, order.starts.dropFirst()) {
      numberCopies(in: Int(start)..<Int(end))
    }
    names = Pages()
    sumUp()
  }
}

extension JournalIndex.Source {
  /// Creates the source of a journal that is not open yet; its manifest is the file next to it by default.
  package init(_ journal: String, manifest: String?) {
    self.init(journal: journal, manifest: Manifest())
    do throws(FileFault) {
      let path = manifest ?? Path.folder(of: journal) + "/manifest.json"
      if let manifest = try Manifest.read(path) {
        self.manifest = manifest
      } else if Host.isFile(path) {
        fault = .malformed(path)
      } else {
        missing = path
      }
    } catch {
      fault = error
    }
  }

  /// The key by which runs are sorted: the part of a job, then when and where the run was made, and at last the path
  /// of the journal.
  fileprivate var key: [String] {
    [
      manifest.jobPart?.job ?? "", manifest.jobPart?.order ?? "", manifest.moment ?? "", manifest.name ?? "",
      manifest.host ?? "", journal,
    ]
  }

  /// Removes all data but the version of the program.
  fileprivate mutating func forget() {
    var kept = Manifest()
    kept.version = manifest.version
    manifest = kept
  }
}

// MARK: - Contents

extension JournalIndex {
  /// The cases of one class.
  package struct Suite {
    package var name: String
    package var entries: Entries
  }

  /// A range of cases, in the order of the reports.
  package struct Entries: RandomAccessCollection {
    fileprivate let table: CaseTable
    fileprivate let order: SuiteOrder
    package let startIndex: Int
    package let endIndex: Int

    package subscript(position: Int) -> Entry { table[Int(order.cases[position])] }
  }

  /// All suites, in the order of their names.
  package struct Suites: RandomAccessCollection {
    fileprivate let table: CaseTable
    fileprivate let suites: SuiteTable
    fileprivate let order: SuiteOrder

    package var startIndex: Int { 0 }
    package var endIndex: Int { order.suites.count }

    package subscript(position: Int) -> Suite {
      Suite(
        name: suites.names[Int(order.suites[position])],
        entries: Entries(
          table: table, order: order, startIndex: Int(order.starts[position]),
          endIndex: Int(order.starts[position + 1])))
    }
  }

  package var suites: Suites { Suites(table: table, suites: suiteTable, order: order) }

  /// Returns the case with an index, such as that of a failure.
  package func entry(_ number: Int) -> Entry { table[number] }

  /// The number of cases, including replaced ones.
  package var caseCount: Int { table.count }

  /// Marks a case as replaced that the resumed run will repeat.
  package mutating func forget(_ id: String) {
    let id = key(Array(id.utf8))
    if let caseIndex = reading.provisional.now[id] ?? reading.provisional.earlier[id] {
      table.replace(caseIndex)
    }
    sumUp()
  }

  /// The endings of the cases that are not replaced, and the case that represents each finding. A resumed run
  /// continues from these counts.
  package var count: EndingCount {
    var cases = Tally()
    for number in 0..<table.count {
      guard let ending = table.ending(of: number) else { continue }
      cases.count(ending)
      guard ending.word == .agree else { continue }
      let (sum, isFar) = cases.observations.addingReportingOverflow(table.observations(of: number))
      cases.observations = isFar ? .max : sum
    }
    var count = EndingCount(cases)
    for found in findings {
      if let caseIndex = found.caseIndex, let ending = table.ending(of: caseIndex) {
        count.addKnown(found.finding, ending)
      }
    }
    return count
  }

  /// The confirmed findings: each is represented by a case that diverged.
  package var confirmed: [Found] {
    findings.filter { $0.caseIndex.flatMap { table.ending(of: $0) } == .diverged }
  }

  /// Combines the results of the runs.
  private mutating func sumUp() {
    tally = count.tally
    tally.cases = table.count
    tally.minimum = minimum
    for status in statuses {
      // A run without an end was interrupted.
      let code = status ?? Int(CommandStatus.incomplete.rawValue)
      tally.causes.insert(CommandStatus(rawValue: Int32(clamping: code)) ?? .internalFault)
    }
    for problem in problems { tally.causes.insert(problem.status ?? .incomplete) }
  }
}

// MARK: - Choices

extension JournalIndex {
  /// Checks the choices that a case showed against those of earlier cases with the device.
  ///
  /// Runs that are merged may contradict each other although each of them agrees. A single run has already made this
  /// check.
  mutating func checkChoices(of verdict: Record.Verdict, in journal: Int32) {
    guard sources.count > 1, verdict.word == .agree, !verdict.isTriedAgain, !verdict.shown.isEmpty else {
      return
    }
    var test = Record.Case(id: verdict.id)
    if let run = sources[Int(journal)].manifest.name { test.id += " of \(run)" }
    (test.device, test.machine) = (reading.device.text, reading.machine.text)
    guard let (held, shown) = choices.take(verdict.shown, of: test) else { return }
    let isReported = contradictions.contains {
      ($0.held.device, $0.held.machine, $0.held.shown.choice)
        == (held.device, held.machine, held.shown.choice)
    }
    guard !isReported else { return }
    let seen = shown.options.joined(separator: " or ")
    let expected = held.shown.options.joined(separator: " or ")
    contradictions.append(
      (
        held,
        "\(held.device) changed its choice of \(shown.choice), which a device makes once: in \(test.id) it showed "
          + "\(seen), and it is held to \(expected), which it showed in \(held.id)"
      ))
  }
}

// MARK: - Names

extension JournalIndex {
  /// Numbers the cases of a suite that have the same name; each gets the first number that makes its name unique.
  private mutating func numberCopies(in suite: Range<Int>) {
    var slots = HashSlots()
    var copies: [Int] = []
    for position in suite {
      let number = Int(order.cases[position])
      guard table.ending(of: number) != nil else { continue }
      let name = names[number]
      if slots.find(name, hashOf: { names[$0] }) == nil {
        slots.add(number, name) { names[$0] }
      } else {
        copies.append(number)
      }
    }
    // The first case with a name temporarily holds the number of its last copy.
    for number in copies {
      let name = names[number]
      guard let first = slots.find(name, hashOf: { names[$0] }) else { continue }
      var copy = Int(table[first].copy) + 1
      // This may be the own name of another case.
      while slots.find(hash(name, copy: copy), hashOf: { names[$0] }) != nil { copy += 1 }
      table.number(number, copy: copy)
      table.number(first, copy: copy)
    }
    for number in copies {
      if let first = slots.find(names[number], hashOf: { names[$0] }) { table.number(first, copy: 1) }
    }
  }

  func key(_ id: [UInt8]) -> UInt64 {
    var hash = Fingerprint()
    for byte in id { hash.mix(UInt64(byte)) }
    return hash.value
  }

  func hash(_ name: String, _ suite: Int) -> UInt64 {
    var hash = Fingerprint(after: suiteTable.hash(suite))
    hash.mix(name)
    return hash.value
  }

  private func hash(_ name: UInt64, copy: Int) -> UInt64 {
    var hash = Fingerprint(after: name)
    hash.mix(" (\(copy))")
    return hash.value
  }
}
