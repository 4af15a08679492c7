import Automata
import Basics
import Conformance
import Journal
import System

/// A campaign in this process, from its request to its end.
///
/// Without a reference device, the session explores the device itself. With one, the order depends on the device:
///
/// - If the device keeps its state or runs in real time, both are explored concurrently: the reference device runs
///   tests while the device shows nothing, as while its motor rests. Rare tests of the reference device become
///   starting points for tests on the device.
/// - Otherwise the reference device is explored first. If it shows no finding, the device runs the rarest of its
///   tests, and then those of the corpus.
///
/// A finding on the reference device is shrunk there, and then tried on the device.
public final class CampaignSession {
  /// The default number of steps on a reference device, after which the device has its turn.
  private static let twinSteps = 100_000
  /// A reference device that is explored first gets one part in this many of the time; the rest is the device's.
  private static let twinShare: Int64 = 10
  /// The minimum time between two writes of the state, and between two counts of the coverage.
  private static let periods = (state: Interval.seconds(5), countCoverage: Interval.milliseconds(200))

  /// The maximum number of different lab diagnostics that are reported.
  private static let maximumDiagnostics = 100

  private let plan: CampaignPlan
  private let output: any CampaignOutput
  private let journal: CampaignJournal
  private let report: any CampaignReport
  private let begin: Interval
  private var state: CampaignState
  private var lastState: Interval
  private var lastCount = Interval.zero
  /// The status of the last report.
  private var lastStatus: CampaignStatus
  /// The cells visited in earlier sessions.
  private var earlierCells: CellCoverage?
  /// The lab's diagnostics so far.
  private var diagnostics: Set<String> = []
  /// The number of the next finding.
  private var nextNumber: Int

  /// Makes a session.
  public init(_ plan: CampaignPlan, _ output: any CampaignOutput) {
    self.plan = plan
    self.output = output
    begin = output.now
    state = plan.state
    report = output.report
    lastState = begin
    lastStatus = plan.state.status
    nextNumber = plan.state.findings.count + 1
    journal = CampaignJournal(
      plan.target, plan.settings, provider: plan.provider, listener: output.listener,
      earlier: output.earlier, recording: output.record)
  }

  private var provider: any DeviceProvider { plan.provider }
  private var target: FuzzTarget { plan.target }
  private var twin: FuzzTarget? { plan.twin }
  private var settings: FuzzSettings { plan.settings }

  public func perform() -> CampaignSummary {
    if output.keepsJournal { journal.begin() }
    report.begin(CampaignHead(target, twin: twin, settings, duration: plan.duration))
    let undriven = target.undriven
    if !undriven.isEmpty {
      let (does, they) = undriven.count == 1 ? ("is", "it") : ("are", "them")
      output.reportOnce(
        "\(undriven.joined(separator: ", ")) \(does) never requested: \(target.device) does not take \(they)")
    }
    do throws(LabFault) {
      guard let twin else {
        return finish(explore(target, try provider.device(target.device, seed: target.seed)))
      }
      let device = try provider.device(target.device, seed: target.seed)
      let other = try provider.device(twin.device, seed: twin.seed)
      let abilities = device.abilities
      if abilities.keepsState || !abilities.isInVirtualTime {
        return finish(explore(device, beside: twin, other))
      }
      var explored = explore(twin, other, isTwin: true)
      let isExplored = explored.cause == .done || explored.cause == .stopped
      if isExplored, !isStopped, explored.status.depths.isEmpty { explored = check(explored, device) }
      return finish(explored)
    } catch {
      return finish(Explored(cause: .trouble(error), status: state.status))
    }
  }

  /// The result of exploring.
  private struct Explored {
    var cause: CampaignEnd
    /// Why some tests have no verdict.
    var trouble: LabFault?
    var status = CampaignStatus()
    var coverage: Coverage?
    /// Why rare tests could not be written to the corpus; `nil` if they could.
    var corpusFault: String?
    /// The rare tests, with their actions.
    var rare: [(test: TestCase, actions: [(action: TestAction, isForbidden: Bool)])] = []
  }

  /// The work that runs concurrently with the exploration of a device.
  private struct Company {
    /// Returns new tests for the device; called between two of its tests.
    var takeTests: () -> [TestCase]
    /// Whether it has a finding that ends the campaign.
    var hasFound: () -> Bool
  }

  /// Explores the device, and its reference device while the device waits.
  private func explore<Device: DeviceUnderTest, Twin: DeviceUnderTest>(
    _ device: Device, beside twin: FuzzTarget, _ other: Twin
  ) -> Explored {
    let alphabet = TestEngine(target, device, settings, recorder: NoRecorder()).alphabet
    var edge = edge(for: other, twin, isTwin: true)
    // The reference device has no time limit of its own, and the progress shown is that of the device.
    edge.isStopped = { [self] in isStopped }
    edge.progress = { _ in }
    let search = TwinSearch(twin, other, settings, edge: edge)
    let company = Company(
      takeTests: { [target] in
        search.followUp()
        return search.takeRare().compactMap {
          $0.test.translated($0.actions, from: twin, to: target, alphabet)
        }
      }, hasFound: { search.hasFound })
    var result = explore(target, AccompaniedDevice(device) { search.work() }, with: company) {
      [provider, target] () throws(LabFault) in
      let another = try provider.another(target.device, seed: target.seed) as? Device
      return another.map { AccompaniedDevice($0) {} }
    }
    let status = search.status
    result.status.depths = (result.status.depths + status.depths).sorted()
    if search.hasFound, !output.isStopped, [.done, .stopped].contains(result.cause) { result.cause = .found }
    if status.depths.isEmpty, status.events > 0 {
      report.say(
        "twin    agrees with the model in \(status.events) events of \(status.tests) tests, beside the device"
      )
    }
    return result
  }

  private func explore<Device: DeviceUnderTest>(
    _ explored: FuzzTarget, _ device: Device, isTwin: Bool = false, with company: Company? = nil,
    another: (() throws(LabFault) -> (any DeviceUnderTest)?)? = nil
  ) -> Explored {
    var settings = settings
    if isTwin {
      settings.actuations = nil
      if settings.steps == nil, plan.duration == nil { settings.steps = Self.twinSteps }
    }
    var result = Explored(cause: .done)
    let variant = explored.machine.variant(under: device.abilities.conditions)
    var before = CellCoverage(variant.machine)
    if before.add(digits: state.cells) { earlierCells = before }
    var corpus = Corpus(
      plan.corpus, explored, TestEngine(explored, device, settings, recorder: NoRecorder()).alphabet,
      // A resumed session knows the findings of the previous one.
      job: settings.round == 0 ? plan.job : nil)
    let known = corpus.read(plan.reader)
    if output.keepsJournal {
      let words = "corpus  \(corpus.words(known.count))"
      if corpus.unusable == nil { report.note(words) } else { report.say(words) }
    }
    var edge = edge(for: device, explored, isTwin: isTwin)
    if let another { edge.another = { () throws(LabFault) in try another() as? Device } }
    edge.keep = { test, actions in
      corpus.keep(test, actions)
      if isTwin { result.rare.append((test, actions)) }
    }
    if let company { edge.isStopped = { [self] in isStopped || company.hasFound() } }
    edge.progress = { [self] in progress($0, isExploring: true) }
    edge.coverage = { [self] in countCoverage($0) }
    // Only a campaign that shares the corpus with other workers reads tests that they have added.
    let isShared = settings.shard.count > 1 && plan.job == nil
    var last = begin
    edge.corpusUpdate = { [output, reader = plan.reader] in
      let own = company?.takeTests() ?? []
      guard isShared, output.now - last >= .seconds(2) else { return own }
      last = output.now
      return own + corpus.read(reader)
    }
    var earlier: Campaign<Device>.Earlier = state.earlier()
    earlier.visited = earlierCells
    var campaign = Campaign(explored, device, settings, corpus: known, earlier: earlier, edge: edge)
    result.cause = campaign.perform()
    result.trouble = campaign.trouble
    result.status = campaign.status
    take(campaign)
    result.coverage = state.coverage
    if let fault = corpus.fault {
      let words = "the corpus is not kept: \(fault)"
      report.warn(words)
      result.corpusFault = words
    }
    return result
  }

  /// Records the results of a finished campaign.
  private func take<Device: DeviceUnderTest>(_ campaign: Campaign<Device>) {
    for (index, known) in campaign.earlier.findings.enumerated() { state.findings[index].count = known.count }
    for finding in campaign.findings {
      if let index = state.findings.firstIndex(where: { $0.signature == finding.signature }) {
        state.findings[index].count = finding.count
      }
    }
    count(campaign.coverage)
    keep(campaign.status)
  }

  /// Runs the rarest of the reference device's tests on the device: those that wait least first, then the
  /// rare tests of earlier campaigns.
  private func check<Device: DeviceUnderTest>(_ explored: Explored, _ device: Device) -> Explored {
    var result = explored
    var campaign = Campaign(target, device, settings, edge: edge(for: device, target, isTwin: false))
    let alphabet = campaign.runner.alphabet
    let tests = explored.rare.compactMap { rare in
      rare.test.translated(rare.actions, from: twin ?? target, to: target, alphabet)
    }.map { (wait: $0.wait(in: alphabet), test: $0) }
      .sorted { ($0.wait, $0.test) < ($1.wait, $1.test) }.map(\.test)
    var corpus = Corpus(
      plan.corpus, target, alphabet, job: plan.job)
    let rare = Set(tests)
    var others = corpus.read(plan.reader).filter { !rare.contains($0) }
    // In random order: if the time is too short, each campaign omits other tests.
    var generator = SeededGenerator(seed: settings.generatorSeed, for: "the device's tests")
    for index in others.indices.dropFirst() { others.swapAt(index, generator.below(index + 1)) }
    report.say(
      "twin    agrees with the model; the device does \(tests.count) of its tests, "
        + "and \(others.count) of the corpus")
    result.cause = campaign.perform(tests + others)
    result.trouble = campaign.trouble
    result.status = campaign.status
    result.coverage = Coverage(target.machine.label, campaign.coverage)
    return result
  }

  private func edge<Device: DeviceUnderTest>(
    for device: Device, _ explored: FuzzTarget, isTwin: Bool
  ) -> Campaign<Device>.Edge {
    let part = isTwin ? Self.twinShare : 1
    var edge = Campaign<Device>.Edge()
    edge.isStopped = { [self] in isStopped(inPart: part) }
    edge.elapsed = { [output, begin] in output.now - begin }
    edge.progress = { [self] in progress($0, isExploring: false) }
    edge.found = { [self] in found(&$0, onTwin: isTwin) }
    edge.trouble = { [self] in
      journal.trouble($0)
      report.say("trouble  \($0)")
    }
    edge.diagnostic = { [self] in
      guard diagnostics.count < Self.maximumDiagnostics, diagnostics.insert($0).inserted else { return }
      output.reportOnce($0)
    }
    edge.exclusion = { [self] start, fault in
      let settings = start.settings.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
      output.reportOnce(
        "left out tests that start with \(settings.isEmpty ? "no settings" : settings): \(fault.detail)")
    }
    edge.excused = { [self] divergence in
      let words =
        "the link was lost in a test that ended with: \(divergence.summary); run again with all its links it agreed"
      journal.diagnostic(words)
      report.say(words)
    }
    if !isTwin { edge.link = output.link }
    edge.another = { [provider, target = explored] () throws(LabFault) in
      try provider.another(target.device, seed: target.seed) as? Device
    }
    return edge
  }

  private var isStopped: Bool { isStopped(inPart: 1) }

  /// Whether a stop was requested, or the first of this many equal parts of the time is over.
  private func isStopped(inPart count: Int64) -> Bool {
    if output.isStopped { return true }
    return plan.duration.map { (output.now - begin) * count >= $0 } ?? false
  }

  /// The time spent in all sessions.
  private var elapsed: Interval { state.elapsed + (output.now - begin) }

  private func progress(_ status: CampaignStatus, isExploring: Bool) {
    let now = output.now
    lastStatus = status
    report.progress(
      CampaignProgress(status: status, took: state.elapsed + (now - begin), coverage: state.coverage))
    guard isExploring, now - lastState >= Self.periods.state else { return }
    lastState = now
    keep(status)
  }

  /// Counts the coverage from time to time.
  private func countCoverage(_ coverage: borrowing CellCoverage) {
    let now = output.now
    guard now - lastCount >= Self.periods.countCoverage else { return }
    lastCount = now
    count(copy coverage)
  }

  /// Adds the cells visited in earlier sessions, and updates the coverage.
  private func count(_ coverage: CellCoverage) {
    var sum = coverage
    if let earlierCells { sum.add(earlierCells) }
    state.coverage = Coverage((twin ?? target).machine.label, sum)
  }

  /// Writes the state from which the campaign can resume.
  private func keep(_ status: CampaignStatus) {
    var state = state
    state.status = status
    state.elapsed = elapsed
    if let coverage = state.coverage { state.cells = coverage.cells.digits }
    output.keep(state)
  }

  private func found(_ finding: inout Finding, onTwin: Bool) {
    // Findings of both devices share one numbering.
    finding.number = nextNumber
    nextNumber += 1
    finding.isOnTwin = onTwin
    finding.twin = compare(finding)
    finding.steps = StepSummary(finding.actions.map(\.action), target.vocabulary)
    var scenario = journal.scenario(of: finding)
    let (folder, stem) = (plan.failures, "fuzz-\(target.machine.machine.name)")
    scenario.machine = target.machine.reference(from: folder)
    let path = place(of: scenario, in: folder, stem: stem)
    var text = Array(scenario.yaml(comments: finding.comments).utf8)
    // An equal test of another worker keeps its text, whose hash is in its journal; the texts differ only in
    // comments.
    if !output.keepsJournal, let other = try? WholeFile.bytes(of: path) {
      text = other
    } else {
      do {
        _ = try save(scenario, in: folder, stem: stem, finding.comments)
      } catch {
        // The finding is reported nevertheless, with its steps.
        report.warn("the counterexample is not saved: \(error)")
      }
    }
    finding.path = path
    let line = plan.replayLine(path, target.device)
    // A scenario that was read has the lines of its steps, which the report shows.
    let saved = try? plan.reader.read(text, path: path)
    var hash = Fingerprint()
    hash.mix(text)
    journal.record(finding, saved ?? scenario, path: path, text: hash.description, replay: line)
    report.found(FindingNotice(finding, scenario, path: path, replay: line))
    // A finding without a verdict may be found again.
    guard finding.whyNoVerdict == nil else { return }
    state.findings.append(
      .init(
        signature: finding.signature, path: path, length: finding.test.choices.count, count: finding.count))
    keep(lastStatus)
  }

  /// Compares a finding's behaviour on device and reference device; `nil` without a reference device.
  private func compare(_ finding: Finding) -> TwinVerdict? {
    // The failure of a program of the lab says nothing about either.
    guard let twin, !finding.divergence.isOfLab else { return nil }
    do throws(LabFault) {
      return compare(
        finding, twin, try provider.device(twin.device, seed: twin.seed),
        try provider.device(target.device, seed: target.seed))
    } catch {
      return .notAsked(error.description)
    }
  }

  private func compare<First: DeviceUnderTest, Second: DeviceUnderTest>(
    _ finding: Finding, _ twin: FuzzTarget, _ first: First, _ second: Second
  ) -> TwinVerdict {
    var check = TwinCheck(twin, first, target, second, settings)
    return finding.isOnTwin ? check.confirm(finding) : check.contradict(finding)
  }

  private func finish(_ explored: Explored) -> CampaignSummary {
    // The requested duration is a budget; reaching it is no interruption.
    let isBudget = explored.cause == .stopped && !output.isStopped
    var cause = isBudget ? .done : explored.cause
    if cause == .done, let trouble = explored.trouble { cause = .trouble(trouble) }
    var end = CampaignSummary(cause: cause, status: explored.status, seed: settings.seed, took: elapsed)
    end.coverage = explored.coverage
    if output.keepsJournal {
      end.exit = journal.end(
        cause, explored.status, explored.coverage, faults: [explored.corpusFault].compactMap(\.self),
        areOwn: false)
      end.found = journal.found
    } else if explored.corpusFault != nil {
      end.exit = end.exit.withTrouble
    }
    return end
  }
}
