import Journal
import Emulator
import Automata
import Conformance
import Harness
import Models
import Basics
import TestSupport
import Testing

/// A campaign on a rigged lock, run to its end.
private func campaign(
  _ lock: RiggedLock, stopAfter: Int = .max, another: @escaping @autoclosure () -> RiggedLock? = nil,
  _ change: (inout FuzzSettings) -> Void = { _ in }
) throws -> (end: CampaignEnd, campaign: Campaign<RiggedLock>) {
  var settings = FuzzSettings()
  settings.seed = 1
  settings.steps = 20_000
  change(&settings)
  var asked = 0
  var edge = Campaign<RiggedLock>.Edge()
  edge.isStopped = {
    asked += 1
    return asked > stopAfter
  }
  edge.another = { () throws(LabFault) in another() }
  var campaign = Campaign(try lock.target(), lock, settings, edge: edge)
  let end = campaign.perform()
  return (end, campaign)
}

private let noAnswer = LabFault(.noAnswer, "it says nothing")

@Suite("Campaigns")
struct CampaignTests {
  @Test("a healthy lock takes as many events as it was given, and nothing is found")
  func healthy() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    let (end, campaign) = try campaign(lock)
    expect(end, .done)
    expect(campaign.findings.count, 0)
    expect(campaign.status.events, 20_000)
    #expect(campaign.status.stability.tried > 0)
    expect(campaign.status.stability.same, campaign.status.stability.tried)
  }

  @Test("one seed gives one campaign, another gives another")
  func determinism() throws {
    func lengths(_ seed: UInt64) throws -> [Int] {
      let (_, campaign) = try campaign(RiggedLock(.deafUnlock)) { $0.seed = seed }
      let finding = try #require(campaign.findings.first)
      return [finding.foundAt, finding.foundLength, finding.shrinking.runs, campaign.status.tests]
    }
    expect(try lengths(1), try lengths(1))
    #expect(try lengths(1) != lengths(2))
  }

  @Test("a bug is found, shrunk to what breadth-first search proves, confirmed, and ends the campaign")
  func found() throws {
    let (end, campaign) = try campaign(RiggedLock(.deafUnlock))
    expect(end, .found)
    let finding = try #require(campaign.findings.first)
    expect(finding.test.choices.count, 16)
    expect(finding.shrinking.end, "minimal for this model")
    expect("\(finding.confirmation)", "reproduced 3 of 3")
    expect(finding.divergence.summary, "the device showed locked, which the model does not allow")
    expect(finding.divergence.lastStimulus, "unlock")
  }

  @Test("with keep-going equal findings are counted, and the campaign uses up its budget")
  func keepGoing() throws {
    let (end, campaign) = try campaign(RiggedLock(.deafUnlock)) { $0.keepsGoing = true }
    expect(end, .done)
    expect(campaign.findings.count, 1)
    #expect(campaign.findings[0].count > 1)
    expect(campaign.status.repeats, campaign.findings[0].count - 1)
    expect(campaign.status.events, 20_000)
  }

  @Test("what does not show again is not reproduced")
  func notReproduced() throws {
    let lock = RiggedLock(.deafUnlock)
    // The bug goes away for ever with the test that came upon it.
    let twin = RiggedLock(.deafUnlock)
    let first = try #require(try campaign(twin) { $0.shrinkEvents = 1 }.campaign.findings.first)
    expect(first.confirmation.verdict, .confirmed)
    let resets = twin.rig.resets - first.shrinking.runs - first.confirmation.runs
    lock.rig.isSick = { $0 <= resets }
    let (end, campaign) = try campaign(lock)
    let finding = try #require(campaign.findings.first)
    expect("\(finding.confirmation)", "not reproduced, 0 of 3")
    expect(finding.test.choices.count, finding.foundLength)
    // It is no verdict, and the campaign goes on without it.
    expect(end, .done)
    expect(campaign.status.events, 20_000)
  }

  @Test("where time is the clock's, a test that does not show its finding again is not made shorter")
  func unshown() throws {
    func living(_ keepsState: Bool, until last: Int) -> RiggedLock {
      let lock = RiggedLock(.deafUnlock)
      (lock.rig.keepsState, lock.rig.livesByTheClock) = (keepsState, true)
      lock.rig.isSick = { $0 <= last }
      return lock
    }
    let twin = living(false, until: .max)
    let first = try #require(try campaign(twin) { $0.shrinkEvents = 1 }.campaign.findings.first)
    let resets = twin.rig.resets - first.shrinking.runs - first.confirmation.runs
    let (end, judged) = try campaign(living(true, until: resets))
    let finding = try #require(judged.findings.first)
    expect(finding.shrinking.end, "not shrunk, since the test did not reproduce it")
    expect(finding.shrinking.runs, 0)
    expect("\(finding.confirmation)", "not reproduced, 0 of 3")
    expect(end, .done)
    // One that shows it once more is made as short as anywhere.
    let sure = try #require(try campaign(living(true, until: .max)).campaign.findings.first)
    expect(sure.test.choices.count, 16)
    expect("\(sure.confirmation)", "reproduced 3 of 3")
  }

  @Test("what could not be tried again is no verdict either, and is looked for again")
  func untried() throws {
    let first = try #require(
      try campaign(RiggedLock(.deafUnlock)) { $0.shrinkEvents = 0 }.campaign.findings.first)
    let healthy = RiggedLock(.deafUnlock)
    healthy.rig.isSick = { _ in false }
    _ = try campaign(healthy) { $0.steps = first.foundAt }
    // Behind what came upon it there is trouble, in every test that tries it again.
    let given = healthy.rig.given.values.reduce(0, +)
    let lock = RiggedLock(.deafUnlock)
    lock.rig.trouble = { (given + 1...given + 3).contains($0) ? LabFault(.linkLost, "far away") : nil }
    let (end, campaign) = try campaign(lock) { $0.shrinkEvents = 0 }
    expect(campaign.findings.map(\.confirmation.verdict), [.untried, .confirmed])
    expect(end, .found)
  }

  @Test("where the shortest test does not show it again, the shortest before it that does is the finding")
  func shortestThatIsSure() throws {
    var lengths: [(sure: Int, found: Int)] = []
    for seed in 1...6 as ClosedRange<UInt64> {
      let twin = RiggedLock(.deafUnlock)
      let first = try #require(try campaign(twin) { $0.seed = seed }.campaign.findings.first)
      let lock = RiggedLock(.deafUnlock)
      let shrunk = twin.rig.resets - first.confirmation.runs
      lock.rig.isSick = { !(shrunk + 1...shrunk + 3).contains($0) }
      let finding = try #require(try campaign(lock) { $0.seed = seed }.campaign.findings.first)
      expect("\(finding.confirmation)", "reproduced 3 of 3")
      expect(finding.shrinking.end, "no shorter test was confirmed")
      lengths.append((finding.test.choices.count, finding.foundLength))
    }
    #expect(lengths.allSatisfy { $0.sure > 16 && $0.sure <= $0.found }, "\(lengths)")
    #expect(lengths.contains { $0.sure < $0.found }, "\(lengths)")
  }

  /// A lock that lives on, with its bug from the beginning, never, or once it was told to toggle.
  private func living(_ isSick: Bool, spoiler: String? = nil) throws -> RiggedLock {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.keepsState = true
    lock.rig.isSick = { _ in isSick }
    let events = try lock.target().machine.machine.definition.events
    lock.rig.spoiler = events.firstIndex { $0.name == spoiler }
    return lock
  }

  @Test("of a device that lives on, others say what its past has to do with a finding", arguments: 1...6)
  func others(seed: UInt64) throws {
    func finding(_ lock: RiggedLock, another: @escaping () throws -> RiggedLock?) throws -> Finding {
      let (end, campaign) = try campaign(lock, another: try? another()) { $0.seed = seed }
      expect(end, .found)
      // What others do is no matter of the lock: neither its time nor what its tests visited.
      expect(campaign.runner.lockstep.device.rig === lock.rig, true)
      let finding = try #require(campaign.findings.first)
      expect(finding.confirmation.verdict, .confirmed)
      return finding
    }
    let alone = try finding(try living(true)) { nil }
    expect(alone.past, .unknown)
    expect(alone.test.choices.count, 16)
    let usual = try finding(try living(true)) { try living(true) }
    expect(usual.past, .irrelevant)
    expect(usual.test, alone.test)
    let only = try finding(try living(true)) { try living(false) }
    expect(only.past, .needed)
    expect(only.test, alone.test)
    let spoilt = try finding(try living(false, spoiler: "toggle")) { try living(false, spoiler: "toggle") }
    // That it is toggled is one choice more, or takes the place of another; for two seeds it needs a session of its own.
    let length = spoilt.test.choices.count
    #expect((16...23).contains(length), "\(length)")
    expect(spoilt.past, length == 16 ? .irrelevant : .included(own: 16))
    // It shows from the first test on, and not by the grace of those before.
    let fresh = try living(false, spoiler: "toggle")
    var runner = TestEngine(try fresh.target(), fresh, FuzzSettings(), recorder: NoRecorder())
    expect(try runner.run(spoilt.test).divergence?.isLike(spoilt.divergence), true)
  }

  /// A program that goes on running, with its bug from the beginning, or once it was told to toggle.
  private func running(_ isSick: Bool, spoiler: String? = nil) throws -> RiggedLock {
    let lock = try living(isSick, spoiler: spoiler)
    (lock.rig.keepsState, lock.rig.keepsRunning) = (false, true)
    return lock
  }

  @Test(
    "what a program has left behind is no finding of a shorter test: one that is started afresh shows the finding",
    arguments: 1...6)
  func leftBehind(seed: UInt64) throws {
    func finding(_ lock: RiggedLock, restarts: Bool = true) throws -> Finding {
      var fresh = lock
      let (end, campaign) = try campaign(
        lock,
        another: {
          guard restarts else { return nil }
          try? fresh.restart()
          return fresh
        }()
      ) { $0.seed = seed }
      expect(end, .found)
      let finding = try #require(campaign.findings.first)
      expect(finding.confirmation.verdict, .confirmed)
      return finding
    }
    // One that resets itself as it should costs one fresh start, and nothing is said of it.
    let usual = try finding(try running(true))
    expect(usual.past, nil)
    expect(usual.test.choices.count, 16)
    // Where it cannot be started afresh it is said that one with another past may not show it.
    expect(try finding(try running(false, spoiler: "toggle"), restarts: false).past, .unknown)
    let spoilt = try finding(try running(false, spoiler: "toggle"))
    let length = spoilt.test.choices.count
    #expect((16...23).contains(length), "\(length)")
    let pasts: [Finding.Past?] = length == 16 ? [nil, .irrelevant] : [.included(own: 16)]
    #expect(pasts.contains(spoilt.past), "\(String(describing: spoilt.past))")
    let fresh = try running(false, spoiler: "toggle")
    var runner = TestEngine(try fresh.target(), fresh, FuzzSettings(), recorder: NoRecorder())
    expect(try runner.run(spoilt.test).divergence?.isLike(spoilt.divergence), true)
  }

  @Test(
    "what leads a program of the lab to fail is found, shrunk and confirmed, and is no verdict on the lock")
  func labFails() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    let failure = LabFault(
      .programFailed, "the driver, the device's program ended: exit status 1\nTraceback\nIndexError: 17")
    // Whoever disconnects has the driver fail.
    var count = 0
    lock.rig.trouble = { _ in
      let disconnects = lock.rig.given[11] ?? 0
      defer { count = disconnects }
      return disconnects > count ? failure : nil
    }
    let (end, broken) = try campaign(lock)
    let finding = try #require(broken.findings.first)
    expect(broken.findings.count, 1)
    expect(
      finding.signature,
      "a program of the lab failed: the driver, the device's program ended, IndexError: ")
    // The least of all: disconnect where nothing is connected, with which a tour comes first.
    expect(finding.test.choices, [Choice(11, isForbidden: true)])
    expect(finding.confirmation.verdict, .confirmed)
    expect(finding.endsCampaign, false)
    #expect(finding.whyNoVerdict?.hasSuffix("it says nothing of the lock, so there is no verdict") == true)
    // Three tests in a row that it ended are enough; each of them has no verdict.
    expect(end, .trouble(failure))
    #expect(broken.status.unjudged >= 3)
    // One that fails now and then ends nothing: what the lock does is found all the same.
    let other = RiggedLock(.deafUnlock)
    var failures = 0
    other.rig.trouble = {
      guard $0 % 500 == 77, failures < 4 else { return nil }
      failures += 1
      return failure
    }
    let (last, goneOn) = try campaign(other)
    expect(last, .found)
    expect(goneOn.findings.last?.divergence.isOfLab, false)
  }

  @Test("what shows every second time is flaky")
  func flaky() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { $0 % 2 == 1 }
    let finding = try #require(try campaign(lock) { $0.shrinkEvents = 1 }.campaign.findings.first)
    expect(finding.confirmation.verdict, .flaky)
    expect(finding.confirmation.runs, 10)
    expect(finding.confirmation.shown, 5)
  }

  @Test("one lab fault costs its test, and not the campaign")
  func oneFault() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    lock.rig.trouble = { $0 == 777 ? noAnswer : nil }
    let (end, campaign) = try campaign(lock)
    expect(end, .done)
    expect(campaign.status.labFaults, 1)
    expect(campaign.findings.count, 0)
    expect(lock.rig.restarts, 1)
  }

  @Test("the same trouble in every fresh start is the device's: it stopped answering")
  func stopsAnswering() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    // Whoever disconnects gets no more answers.
    var count = 0
    lock.rig.trouble = { _ in
      let disconnects = lock.rig.given[11] ?? 0
      defer { count = disconnects }
      return disconnects > count ? noAnswer : nil
    }
    let (end, campaign) = try campaign(lock)
    expect(end, .found)
    let finding = try #require(campaign.findings.first)
    expect(finding.signature, "stopped answering: no answer after the start")
    // The least of all: disconnect where nothing is connected, with which a tour comes first.
    expect(finding.test.choices, [Choice(11, isForbidden: true)])
  }

  @Test("a start that the lock refuses is asked for once, told once, and left out; the others go on")
  func refusedStart() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    let target = try lock.target()
    #expect(target.starts.count > 1)
    let (rare, usual) = (target.starts[0], target.starts[target.starts.count - 1])
    for refused in [rare, usual] {
      lock.rig.refuses = { $0 == refused }
      lock.rig.starts = []
      var settings = FuzzSettings()
      settings.steps = 20_000
      var told: [StartCondition] = []
      var troubles = 0
      var edge = Campaign<RiggedLock>.Edge()
      edge.exclusion = { start, fault in
        told.append(start)
        expect(fault.detail, "it is what it is")
      }
      edge.trouble = { _ in troubles += 1 }
      // What others found there is of no use either.
      let corpus = target.starts.indices.map { TestCase(start: $0, [Choice(0)]) }
      var campaign = Campaign(target, lock, settings, corpus: corpus, edge: edge)
      expect(campaign.perform(), .done)
      expect(told, [refused])
      expect(lock.rig.starts.filter { $0 == refused }.count, 1)
      expect([troubles, campaign.status.labFaults, campaign.status.unjudged], [0, 0, 0])
      expect(campaign.status.events, 20_000)
      expect(campaign.trouble, nil)
    }
  }

  @Test("where every start is refused there is nothing to judge, and the reason is said")
  func refusedStarts() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.refuses = { _ in true }
    let (end, campaign) = try campaign(lock)
    expect(end, .trouble(LabFault(.notPossible, "it is what it is")))
    expect(lock.rig.starts.count, try lock.target().starts.count)
    expect(campaign.status.tests, 0)
  }

  @Test("tests that trouble ended are counted, and the campaign has not judged all")
  func unjudged() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    lock.rig.trouble = { $0 % 4000 == 777 ? noAnswer : nil }
    let (end, campaign) = try campaign(lock)
    expect(end, .done)
    let (tests, faults) = (campaign.status.tests, campaign.status.labFaults)
    #expect(faults > 1)
    expect(campaign.status.unjudged, faults)
    expect(
      campaign.trouble,
      LabFault(.noVerdict, "on \(faults) of \(tests) tests, the first because of no answer: it says nothing"))
    let stopped = RiggedLock(.deafUnlock)
    stopped.rig.trouble = { _ in LabFault(.transportLost, "pulled out") }
    var settings = FuzzSettings()
    settings.steps = 1
    var none = Campaign(try stopped.target(), stopped, settings, edge: .init())
    expect(none.perform(), .done)
    expect(
      none.trouble?.description, "no verdict: on any test, the first because of transport lost: pulled out")
  }

  @Test("a campaign whose test is stopped in the middle ends, and that is trouble of nobody's")
  func stoppedInTest() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.trouble = { _ in LabFault(.stopped, "a stop was requested") }
    let (end, campaign) = try campaign(lock)
    expect(end, .stopped)
    expect(campaign.status.labFaults, 0)
    expect(campaign.status.unjudged, 0)
    expect(campaign.trouble, nil)
  }

  @Test("trouble while a finding is confirmed speaks neither for it nor against it")
  func troubledConfirmation() throws {
    let plain = try #require(
      try campaign(RiggedLock(.deafUnlock)) { $0.shrinkEvents = 1 }.campaign.findings.first)
    let lock = RiggedLock(.deafUnlock)
    var troubles = 0
    lock.rig.trouble = { [rig = lock.rig] count in
      guard rig.resets == plain.shrinking.runs + 2 + 1, troubles < 2, count > 0 else { return nil }
      troubles += 1
      return LabFault(.transportLost, "pulled out")
    }
    let finding = try #require(try campaign(lock) { $0.shrinkEvents = 1 }.campaign.findings.first)
    expect(finding.confirmation.verdict, .confirmed)
    expect(finding.confirmation.shown, finding.confirmation.runs)
  }

  @Test("a device that is gone ends the campaign as trouble in the lab")
  func gone() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.trouble = { $0 > 100 ? LabFault(.transportLost, "pulled out") : nil }
    let (end, campaign) = try campaign(lock)
    expect(end, .trouble(LabFault(.transportLost, "pulled out")))
    expect(campaign.findings.count, 0)
  }

  @Test(
    "the bolt is never set in motion more often than allowed, shrinking included", arguments: [1, 7, 40, 90])
  func actuations(limit: Int) throws {
    let lock = RiggedLock(.deafUnlock)
    let (end, _) = try campaign(lock) {
      $0.actuations = limit
      $0.keepsGoing = true
    }
    let moves = [8, 9, 10].map { lock.rig.given[$0] ?? 0 }.reduce(0, +)
    expect(moves, limit)
    expect(end, .limited("the bolt was set in motion \(limit) times (--actuations)"))
  }

  @Test("who stops it is heard before the next event")
  func stopped() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    let (end, campaign) = try campaign(lock, stopAfter: 500)
    expect(end, .stopped)
    #expect(campaign.status.events < 500)
  }

  @Test("each worker draws tests of its own, by its number alone")
  func shards() {
    var seeds: [UInt64] = []
    for round in 0..<3 {
      for part in 1...4 {
        var settings = FuzzSettings()
        settings.seed = 9
        settings.shard = (part, 4)
        settings.round = round
        seeds.append(settings.generatorSeed)
        expect(settings.generatorSeed, settings.generatorSeed)
      }
    }
    expect(Set(seeds).count, 12)
  }

  @Test("a campaign that goes on counts on, knows what it found, and draws tests of its own")
  func resumed() throws {
    let (_, first) = try campaign(RiggedLock(.deafUnlock))
    let finding = try #require(first.findings.first)
    var earlier = Campaign<RiggedLock>.Earlier()
    earlier.status = first.status
    earlier.findings = [(finding.signature, 1)]
    var settings = FuzzSettings()
    settings.seed = 1
    settings.round = 1
    settings.keepsGoing = true
    settings.steps = first.status.events + 20_000
    func goOn() throws -> Campaign<RiggedLock> {
      let lock = RiggedLock(.deafUnlock)
      var campaign = Campaign(try lock.target(), lock, settings, earlier: earlier, edge: .init())
      expect(campaign.perform(), .done)
      return campaign
    }
    let (second, again) = (try goOn(), try goOn())
    expect(second.status.events, settings.steps)
    expect(second.findings.filter { $0.signature == finding.signature }.count, 0)
    #expect(second.earlier.findings[0].count > 1)
    expect(second.status.repeats, second.earlier.findings[0].count - 1)
    if let other = second.findings.first { expect(other.number, 2) }
    #expect(second.status.tests > first.status.tests)
    expect(second.status.tests, again.status.tests)
    expect(second.earlier.findings.map(\.count), again.earlier.findings.map(\.count))
  }

  @Test("what others found rare is learnt, and who looks on is told what was visited")
  func edges() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    var settings = FuzzSettings()
    settings.steps = 3000
    var told = 0
    var visited = 0
    var kept: [TestCase] = []
    var edge = Campaign<RiggedLock>.Edge()
    edge.keep = { test, _ in kept.append(test) }
    edge.coverage = { cells in
      told += 1
      visited = cells.total.legal.visited
    }
    var plain = Campaign(try lock.target(), lock, settings, edge: edge)
    _ = plain.perform()
    // After each, and once at the end.
    expect(told, plain.status.tests + 1)
    #expect(visited > 10 && visited == plain.coverage.total.legal.visited)
    var asked = 0
    edge.corpusUpdate = {
      asked += 1
      return asked == 1 ? kept : []
    }
    var keptThen: [TestCase] = []
    edge.keep = { test, _ in keptThen.append(test) }
    let fresh = RiggedLock(.deafUnlock)
    fresh.rig.isSick = { _ in false }
    var informed = Campaign(try fresh.target(), fresh, settings, edge: edge)
    _ = informed.perform()
    #expect(asked > 1)
    #expect(informed.status.corpus > 0 && keptThen != kept)
  }
}
