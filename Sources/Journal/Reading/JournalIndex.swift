import Basics
package import System

/// Where each case of one or several journals stands and how it ended: enough to count and to order them, and little
/// enough to keep for a million.
///
/// Some cases make place for others: one that came to no judgement, and that of a campaign itself, when a run that is
/// taken up again has it once more; and a finding of a campaign, when another case shows the same in fewer events.
///
/// Several journals are read in an order of their own, so that it does not matter in which they are named: by when
/// and where their runs were made.
package struct JournalIndex {
  /// A finding, and the number of the case that stands for it.
  package struct Found {
    package var finding: Record.Finding
    package var place: Int?
    /// What that case has to show.
    var evidence: Record.Finding.Evidence?
  }

  /// What is said of a case that did not pass; the case goes by its number.
  package struct Failure {
    package var place: Int
    package var verdict: Record.Verdict
  }

  /// A case.
  package struct Entry {
    /// Which of the journals it stands in, in the order in which they were read.
    package var journal: Int32 = 0
    /// Where the line that starts the case is, in bytes and as a number.
    package var offset: Int
    package var line: Int
    /// Which of the cases with the same name in the same suite it is, from 1.
    package var copy: Int32
    /// How it ended; `nil` where another case stands for it.
    package var ending: Record.Ending?
    /// How many attempts it took; they follow one another, each from a line that starts it to its verdict.
    package var attempts: Int32 = 1
    /// Whether model and device agreed in the end.
    package var hasAgreed: Bool { ending?.word == .agree }
    /// Whether they did, and not at the first attempt.
    package var isFlaky: Bool { ending?.isFlaky ?? false }
    /// Whether there is something to show even where the case passed: what the lab said in it, or a file.
    package var hasDiagnostics = false
    /// How long it took, in the time of the device.
    package var milliseconds: Int64
    /// When its attempts ran, from the first on, and how long they took together; `nil` where that is not known.
    package var time: CaseTime?
    /// The same of each attempt, where there were several.
    package var attemptTimes: [CaseTime?] = []
    /// How long it took: by the clock of the host or, where that is not known, in the time of the device.
    package var takenMilliseconds: Int64 {
      time.map { (Instant.zero + $0.taken).milliseconds } ?? milliseconds
    }
    /// How many observations of the device its last attempt rests on; zero where they were not counted.
    package var observations = 0
  }

  /// A journal, and the manifest of its run.
  package struct Source {
    package var journal: String
    package var manifest: Manifest
    /// Why the journal or the manifest cannot be read, where one is there or ought to be.
    package var fault: FileFault?
    /// Where its manifest would be, where it has none.
    package var missing: String?
    /// `nil` when it cannot be read.
    package var file: JournalSource?
  }

  /// Whether nothing is known that differs between two runs of one seed.
  package let isReproducible: Bool
  /// The journals in the order in which they were read.
  package internal(set) var sources: [Source] = []
  /// The run lines, each as it last came in its journal.
  package internal(set) var runs: [Record.Run] = []
  package internal(set) var coverage: [Record.Coverage] = []
  /// The machines that coverage is about, each as it first came.
  package internal(set) var machines: [Record.Machine] = []
  /// What the lab said outside of cases: how it left a lock at the end.
  package internal(set) var diagnostics: [String] = []
  /// What stood behind the end of a run and is no record, such as what another program wrote there: it is left out, and
  /// changes nothing about the run.
  package internal(set) var omissions: [String] = []
  /// Which other parts there are of a job, where the only run is a part of it.
  package internal(set) var partsElsewhere: [String] = []
  /// Of which runs there were copies, in sentences.
  package internal(set) var copies: [String] = []
  /// What is wrong with the journals, and what runs ended with that their cases do not show.
  package internal(set) var problems: [JournalProblem] = []
  /// The same, and that less came to a verdict than is asked for: what reports have a case of its own for.
  package var remarks: [JournalProblem] {
    problems + (tally.tooLittle.map { [JournalProblem(line: 0, message: $0, status: .incomplete)] } ?? [])
  }
  /// What the runs came to together, by all that their journals say; ``Tally/exitStatus`` is how they ended.
  package internal(set) var tally = Tally()
  private let minimum: MinimumVerdicts
  /// What campaigns found, each once.
  package internal(set) var findings: [Found] = []
  /// How far each campaign came, and the case that stands for it.
  package internal(set) var campaigns: [(status: CampaignStatus, place: Int?)] = []
  /// The first cases that did not pass.
  package internal(set) var failures: [Failure] = []
  /// What each run ended with; `nil` for one that did not end.
  package internal(set) var statuses: [Int?] = []
  /// How many observations of devices the cases that agree rest on, as far as their journals tell.
  package internal(set) var observations = 0
  /// How many cases those runs were to have that did not end, and how many of these were not begun; as far as their
  /// journals tell.
  package internal(set) var missing: (of: Int, cases: Int) = (0, 0)

  /// What devices showed of choices that each of them makes once, case after case in the order of the journals.
  private var choices = ShownChoices()
  /// Where cases that agree by themselves contradict each other, once for each choice of a device.
  private var contradictions: [(held: ShownChoices.Known, message: String)] = []

  var table = CaseTable()
  /// A hash of the suite and the name of each case.
  var names = Pages<UInt64>()
  var suiteTable = SuiteTable()
  /// The suites in the order of their names, and their cases in the order of the journals.
  private var order = SuiteOrder()

  var findingNumbers: [String: Int] = [:]
  var reading = Reading()
  var open: Open?

  /// What is known of the journal that is being read.
  struct Reading {
    /// The cases by id that make place for others of that id when the run is taken up again: of this session, and of
    /// those before.
    var provisional: (now: [UInt64: Int], earlier: [UInt64: Int]) = ([:], [:])
    /// The case that ended last.
    var last: (id: [UInt8], place: Int, attempts: CaseAttempts)?
    /// The finding that the next case shows, and the one that the case shows that was begun last.
    var (next, shown): (Shown?, Shown?)
    /// The verdict on the first attempt of that case that failed, where others followed.
    var failure: Record.Verdict?
    /// How its cases ended, whether or not another stands for them.
    var endings = Tally()
    var run: Record.Run?
    var ending: Record.End?
    var times: CaseTimes?
    /// How far its campaign came, and the case that stands for it; a later session counts on from an earlier one.
    var campaign: (status: CampaignStatus, place: Int?)?
    /// The lines behind the end that are no records.
    var foreign: (first: JournalProblem?, count: Int) = (nil, 0)
    /// How many cases there were, and how many of them made place when the run was taken up again.
    var cases = 0
    var replaced = 0
    /// Where its first case is.
    var first = 0
    /// The device and the machine of the case that was begun last.
    var (device, machine) = (RepeatedText(), RepeatedText())
  }

  /// A finding as the case behind it shows it, and its number among all.
  struct Shown {
    var number: Int
    var finding: Record.Finding
  }

  /// The case whose verdict has not come yet.
  struct Open {
    var id: [UInt8]
    var suite: Int
    var name: UInt64
    var entry: Entry
    var attempts = CaseAttempts()
  }

  /// The most problems that are listed.
  static let problemLimit = 100
  static let failureLimit = 1000

  /// Reads journals, each from its first line to its last or as far as it can be read.
  ///
  /// - Parameters:
  ///   - manifests: the manifests of the runs, one for each journal; without any, the files beside them.
  ///   - isReproducible: whether nothing is to be known that differs between two runs of one seed.
  ///   - minimum: how much must have been judged in all of them together.
  package init(
    journals: [String], manifests: [String] = [], isReproducible: Bool = false,
    minimum: MinimumVerdicts = MinimumVerdicts()
  ) {
    var seen: Set<ExactText> = []
    var sources: [Source] = []
    // Patterns overlap: a run that is named twice is one.
    for (number, journal) in journals.enumerated()
    where seen.insert(ExactText(realPath(journal) ?? journal)).inserted {
      sources.append(Source(journal, manifest: number < manifests.count ? manifests[number] : nil))
    }
    sources.sort { $0.key.lexicographicallyPrecedes($1.key) }
    let copies: [String]
    (sources, copies) = Self.withoutCopies(sources)
    sources = Self.standing(sources)
    let missing = Self.missingParts(of: sources)
    if isReproducible {
      for number in sources.indices { sources[number].forget() }
    }
    self.init(sources, isReproducible: isReproducible, minimum: minimum)
    self.copies = copies
    // Who reports a part alone knows that it is one; who puts several together means all of them.
    if sources.count == 1 {
      partsElsewhere = missing
    } else {
      for words in missing { add(JournalProblem(line: 0, message: words)) }
      sumUp()
    }
  }

  /// Reads one journal, whether or not it stands for others.
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
  /// A journal that is not opened yet; its manifest is the file beside it unless another one is named.
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

  /// What orders runs: which part of which job they are; then when and where they were made, and as the last resort
  /// where their journals are.
  fileprivate var key: [String] {
    [
      manifest.jobPart?.job ?? "", manifest.jobPart?.order ?? "", manifest.moment ?? "", manifest.name ?? "",
      manifest.host ?? "", journal,
    ]
  }

  /// Forgets everything but which program made the run.
  fileprivate mutating func forget() {
    var kept = Manifest()
    kept.version = manifest.version
    manifest = kept
  }
}

// MARK: - What there is

extension JournalIndex {
  /// The cases of one class, which is one file of scenarios.
  package struct Suite {
    package var name: String
    package var entries: Entries
  }

  /// Some of the cases, one after the other.
  package struct Entries: RandomAccessCollection {
    fileprivate let table: CaseTable
    fileprivate let order: SuiteOrder
    package let startIndex: Int
    package let endIndex: Int

    package subscript(position: Int) -> Entry { table[Int(order.cases[position])] }
  }

  /// All suites, by their names.
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

  /// A case by its number, such as that of a failure.
  package func entry(_ number: Int) -> Entry { table[number] }

  /// How many cases there are, those included that made place for others.
  package var caseCount: Int { table.count }

  /// Takes away what a run that is taken up again will have once more.
  package mutating func forget(_ id: String) {
    let id = key(Array(id.utf8))
    if let place = reading.provisional.now[id] ?? reading.provisional.earlier[id] { table.replace(place) }
    sumUp()
  }

  /// What the cases came to that stand, and by which of them each finding is known: what a run counts on from that is
  /// taken up again.
  package var count: EndingCount {
    var cases = Tally()
    for number in 0..<table.count {
      if let ending = table.ending(of: number) { cases.count(ending) }
    }
    cases.observations = observations
    var count = EndingCount(cases)
    for found in findings {
      if let place = found.place, let ending = table.ending(of: place) { count.know(found.finding, ending) }
    }
    return count
  }

  /// The findings that are sure: those for which a case stands that diverged.
  package var confirmed: [Found] {
    findings.filter { $0.place.flatMap { table.ending(of: $0) } == .diverged }
  }

  /// Counts what the runs came to together.
  private mutating func sumUp() {
    tally = count.tally
    tally.cases = table.count
    tally.minimum = minimum
    for status in statuses {
      // One that did not end was cut short.
      let code = status ?? Int(CommandStatus.incomplete.rawValue)
      tally.causes.insert(CommandStatus(rawValue: Int32(clamping: code)) ?? .internalFault)
    }
    for problem in problems { tally.causes.insert(problem.status ?? .incomplete) }
  }
}

// MARK: - Choices

extension JournalIndex {
  /// Holds the device of a case to what it showed in those before: runs that are put together may contradict each other
  /// although each of them agrees. One alone has done that itself.
  mutating func hold(_ verdict: Record.Verdict, in journal: Int32) {
    guard sources.count > 1, verdict.word == .agree, !verdict.isTriedAgain, !verdict.shown.isEmpty else {
      return
    }
    var test = Record.Case(id: verdict.id)
    if let run = sources[Int(journal)].manifest.name { test.id += " of \(run)" }
    (test.device, test.machine) = (reading.device.text, reading.machine.text)
    guard let (held, shown) = choices.take(verdict.shown, of: test) else { return }
    let isSaid = contradictions.contains {
      ($0.held.device, $0.held.machine, $0.held.shown.choice)
        == (held.device, held.machine, held.shown.choice)
    }
    guard !isSaid else { return }
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
  /// Tells cases of one name apart that are in one suite, by the first number that makes the name of a case its own.
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
    // The first of a name counts its copies meanwhile.
    for number in copies {
      let name = names[number]
      guard let first = slots.find(name, hashOf: { names[$0] }) else { continue }
      var copy = Int(table[first].copy) + 1
      // Another case may have that name by itself.
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
