import Conformance
import Bench
import LockFiles
import System
import Harness
import Journal
import Basics

/// The child processes of a night: their arguments and their results.
public struct NightlyRuns: Sendable {
  let lab: NightlyLab
  /// The folder of the night.
  let folder: String
  let seed: UInt64
  private let places: [String: Int]

  init(_ lab: NightlyLab, folder: String, seed: UInt64) {
    (self.lab, self.folder, self.seed) = (lab, folder, seed)
    places = Dictionary(uniqueKeysWithValues: lab.cases.indices.map { (lab.cases[$0].identity, $0) })
  }

  /// The folder of a run.
  func folder(of number: Int) -> String {
    "\(folder)/cases/\(number.padded(to: 5))"
  }

  /// The file that a run keeps locked as long as it lives.
  func heldFile(of number: Int) -> String { folder(of: number) + "/alive" }

  /// The journal of a run; `nil` if it has none.
  func journal(of number: Int) -> String? {
    let runs = folder(of: number) + "/runs"
    return folderEntries(runs)?.first.map { "\(runs)/\($0)/journal.jsonl" }
  }

  /// The journal of a run, relative to the folder of the night; empty if it has none.
  func journalName(of number: Int) -> String {
    journal(of: number).map { Path.relative($0, from: folder) } ?? ""
  }

  /// The scenario that parks a Sesame: it only reads the lock's state, and the end of every run parks the
  /// lock.
  static let park = LockFamily.usual.parkScenario

  /// The scenario of an attempt that parks another lock, with its path.
  func ownPark(of attempt: NightAttempt) -> (path: String, text: String)? {
    guard case .park = attempt.work, let text = lab.parks[attempt.lock] else { return nil }
    return (folder(of: attempt.number) + "/park.yaml", text)
  }

  /// The path of the scenario that parks a lock after the night, in the folder of the night.
  private func park(of lock: String) -> String {
    folder + (lab.parks[lock] == nil ? "/park.yaml" : "/park-\(lock).yaml")
  }

  /// Writes the scenario that parks a lock, unless it is that of every Sesame.
  func writePark(of lock: String) throws(FileFault) {
    guard let text = lab.parks[lock] else { return }
    try WholeFile.replace(park(of: lock), with: text)
  }

  /// The command that parks a lock: it only reads the lock's state, and the end of every run parks the lock.
  func parking(_ lock: String) -> String {
    var words = ["lockstep", "run", park(of: lock), "--device", "lock:\(lock)"] + lab.benchWords
    if let places = lab.places, let place = places.places[lock] {
      words += places.request.words(at: place.name)
    }
    return words.map(shellWord).joined(separator: " ")
  }

  /// Why no run may begin now: there is no disk space for its output. A run without space would fail, and its
  /// lock would seem faulty.
  var shortage: FileFault? {
    do throws(FileFault) {
      _ = try ReservedSpace(for: folder + "/cases/room", bytes: 4 << 20)
      return nil
    } catch {
      return error
    }
  }

  /// How long a run waits for a lock or a dongle that another process uses.
  static let wait = Interval.seconds(60)

  /// The permanent choices that the locks of a night have shown, over its cases in the order of their ends,
  /// with the runs that showed them.
  func shownChoices(in night: Night) -> (choices: ShownChoices, runs: [NightAttempt]) {
    var (choices, runs) = (ShownChoices(), [NightAttempt]())
    for run in night.ended where run.ending.verdict == .agreed && !run.ending.shown.isEmpty {
      guard var test = test(of: run.attempt)?.record.named(on: run.attempt.lock, attempt: 1) else { continue }
      // Several locks may have the same device description: the lock's name distinguishes them.
      test.device = run.attempt.lock
      let before = choices
      let shown = run.ending.shown.map { Record.ShownChoice($0.choice, $0.options) }
      let other = choices.take(shown, of: test)
      if other == nil, choices != before { runs.append(run.attempt) }
    }
    return (choices, runs)
  }

  /// The arguments of a run of a night.
  func words(for attempt: NightAttempt, of night: Night) -> [String] {
    var words: [String]
    switch attempt.work {
    case .test(let identity):
      guard let place = places[identity] else { preconditionFailure("there is no such case") }
      words = ["run", lab.tests[place].file, "--seed=\(lab.tests[place].seed)", "--show-progress=none"]
      let known = shownChoices(in: night).runs.filter { $0.lock == attempt.lock }
      words += known.compactMap { journal(of: $0.number) }.map { "--shown-in=\($0)" }
    case .park:
      words = [
        "run", ownPark(of: attempt)?.path ?? folder + "/park.yaml", "--seed=1", "--show-progress=none",
      ]
    case .fuzz(let time):
      let seed = Fingerprint("\(seed) \(attempt.number)").value >> 11
      words = [
        "fuzz", lab.plan.fuzz?.machine ?? LockFamily.usual.machine, "--duration=\(time)", "--seed=\(seed)",
        "--corpus=\(folder)/corpus/\(attempt.lock)",
      ]
    }
    words += ["--bench=\(lab.benchPath)", "--device=lock:\(attempt.lock)", "--wait=\(Self.wait)"]
    if let dongle = attempt.dongle {
      words += lab.places?.request.words(at: dongle) ?? ["--transport=dongle:\(dongle)"]
      words.append("--actuations=\(attempt.actuations)")
      if attempt.checksHealth, case .test = attempt.work { words.append("--check-health") }
    }
    return words + ["--out=\(folder(of: attempt.number))", "--history=none", "--html=none", "--quiet"]
  }

  /// The case of an attempt, if it runs one.
  func test(of attempt: NightAttempt) -> Case? {
    guard case .test(let identity) = attempt.work, let place = places[identity] else { return nil }
    return lab.tests[place]
  }
}

// MARK: - Results of a run

extension NightlyRuns {
  /// The result of a run that ended, from its files.
  ///
  /// - Parameters:
  ///   - end: how its process ended, if known.
  ///   - words: the last output of its process.
  func ending(of attempt: NightAttempt, _ end: Ending?, words: String) -> NightEnding {
    var ending = judgement(of: attempt, end, words: words)
    for device in [attempt.dongle.map { NightDevice.dongle($0) }, .lock(attempt.lock)].compactMap(\.self) {
      guard let why = lab.reasonOutOfUse(of: device) else { continue }
      ending.outOfUse = device
      if ending.verdict == .labFault { ending.message = why }
    }
    if let lock = lab.inventory.lock(attempt.lock), case .file(let path) = lock.source {
      let counted = LockCycleCounter.known(of: path)
      ending.cycleCounter = counted?.total
      if let ledger = counted?.ledger {
        ending.pause = Self.pause(after: ending, ledger, under: lock.limits)
      }
    }
    return ending
  }

  /// How long a lock must rest after it reached a limit, or before it may be parked, as after a jam; `nil` if
  /// nothing blocks the lock, or if waiting does not help.
  private static func pause(
    after ending: NightEnding, _ ledger: ActuationBudget, under limits: LockLimits
  ) -> Interval? {
    let purpose: ActuationBudget.Purpose
    switch (ending.verdict, ending.park) {
    case (_, .elsewhere): purpose = .park
    case (.limited, _): purpose = .movement
    default: return nil
    }
    let now = BenchClock.now.uptime
    guard let refusal = ledger.refusal(for: purpose, under: limits, at: now), refusal.until < .never else {
      return nil
    }
    return max(refusal.until - now, .seconds(1))
  }

  private func judgement(of attempt: NightAttempt, _ end: Ending?, words: String) -> NightEnding {
    let headerScan = journal(of: attempt.number).flatMap(RunHeaderScan.init)
    let park = headerScan?.park ?? .unknown
    if let headerScan, let status = headerScan.status {
      return ending(of: attempt, headerScan, status, park)
    }
    // The journal of a case with a verdict is complete up to there, whatever killed the run afterwards.
    if let headerScan, case .test = attempt.work, let verdict = headerScan.verdict {
      return Self.ending(verdict, park)
    }
    switch end {
    case nil, .signal(9): return NightEnding(.incomplete, "its process was killed", park: park)
    case .exit(5): return NightEnding(.incomplete, "its process was stopped", park: park)
    case .some(let end):
      let last = words.split(separator: "\n").last.map { ": \($0)" } ?? ""
      return NightEnding(.labFault, "its process ended with \(end)\(last)", park: park)
    }
  }

  /// The meaning of a verdict; the night itself applies quarantines.
  private static func ending(_ verdict: Record.Verdict, _ park: ParkState) -> NightEnding {
    var ending = NightEnding(
      Record.Ending(verdict.word, isLimited: verdict.limit != nil), verdict.message ?? "", park: park)
    ending.shown = verdict.shown.map { NightEnding.Shown(choice: $0.choice, options: $0.options) }
    return ending
  }

  private func ending(
    of attempt: NightAttempt, _ headerScan: RunHeaderScan, _ status: Int, _ park: ParkState
  ) -> NightEnding {
    switch attempt.work {
    case .test:
      guard let verdict = headerScan.verdict else {
        // The run was stopped while it waited for its lock or transport.
        if status == Int(CommandStatus.incomplete.rawValue) {
          return NightEnding(.incomplete, "it was stopped", park: park)
        }
        let words = headerScan.diagnostic ?? "its run ended with status \(status) and no verdict"
        return NightEnding(.labFault, words, park: park)
      }
      return Self.ending(verdict, park)
    case .park:
      if park == .parked { return NightEnding(.agreed, park: park) }
      if case .elsewhere(let why) = park { return NightEnding(.labFault, why, park: park) }
      let words = headerScan.verdict?.message ?? headerScan.diagnostic ?? "it was not reached"
      return NightEnding(.labFault, words, park: park)
    case .fuzz: return NightEnding(fuzzing: headerScan)
    }
  }
}

extension NightEnding {
  /// The result of a stretch of fuzzing, from its journal.
  init(fuzzing headerScan: RunHeaderScan) {
    let message = headerScan.verdict?.message
    self =
      switch headerScan.summary.tally.exitStatus {
      case .agree, .nothingSelected: NightEnding(.agreed, park: headerScan.park)
      case .divergence:
        NightEnding(
          .diverged, headerScan.summary.confirmed.map(\.summary).joined(separator: "; "),
          park: headerScan.park)
      case .safetyLimit: NightEnding(.limited, message ?? "", park: headerScan.park)
      case .incomplete: NightEnding(.incomplete, "it was stopped", park: headerScan.park)
      case .labFault, .usage, .internalFault:
        NightEnding(
          .labFault, message ?? "it ended with status \(headerScan.status ?? headerScan.summary.status)",
          park: headerScan.park)
      }
  }
}

/// The data of a child's journal that a night needs.
struct RunHeaderScan {
  private(set) var verdict: Record.Verdict?
  /// The result of the run.
  let summary: RunSummary
  /// The last diagnostic of the lab: the reason of a run without a case.
  private(set) var diagnostic: String?
  /// How the lock was left; unknown if the journal lacks it.
  private(set) var park = ParkState.unknown
  /// The exit status of the run; `nil` if it did not end.
  private(set) var status: Int?

  /// Reads a journal; `nil` if it cannot be read.
  init?(_ path: String) {
    guard var reader = try? JournalReader(path) else { return nil }
    summary = RunSummary(journals: [path])
    while let line = try? reader.next() {
      guard case .success(let record) = line else { continue }
      switch record {
      case .verdict(let verdict): self.verdict = verdict
      case .event(let event) where event.isDiagnostic: diagnostic = event.diagnostic
      case .left(let left): park = ParkState(left)
      case .end(let end): status = end.status
      case .run, .begin, .event, .finding, .machine, .coverage, .campaign: break
      }
    }
  }
}
