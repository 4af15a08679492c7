public import Conformance
import Bench
public import Basics
public import Journal

/// One scenario on one lock, for a night.
public struct NightCase: Equatable, Sendable {
  /// The unique identity of the case in a night: a hash of scenario, arguments, model, firmware and lock.
  public var identity: String
  /// The first suite with the case.
  public var suite: String
  /// The scenario's file.
  public var file: String
  /// The number of the round, from 1.
  public var round: Int
  /// The lock; `nil` if none matches.
  public var lock: String?
  /// The time limit of an attempt.
  public var timeout: Interval
  /// How often it is retried after a divergence.
  public var retries: Int
  /// The maximum number of movements of an attempt, parking included.
  public var actuations: Int
  /// Why it is skipped; `nil` if it runs.
  public var skipReason: String?
  /// Why no lock matches; `nil` if one does.
  public var unmet: String?
  /// Why it is quarantined: it is run and reported, and does not fail the night.
  public var quarantine: String?

  /// Makes a case.
  public init(
    identity: String, suite: String, file: String, round: Int = 1, lock: String?,
    timeout: Interval = .seconds(300), retries: Int = 0, actuations: Int = 100,
    skipReason: String? = nil, unmet: String? = nil, quarantine: String? = nil
  ) {
    self.identity = identity
    self.suite = suite
    self.file = file
    self.round = round
    self.lock = lock
    self.timeout = timeout
    self.retries = retries
    self.actuations = actuations
    self.skipReason = skipReason
    self.unmet = unmet
    self.quarantine = quarantine
  }
}

/// A lock of a night.
public struct NightLock: Equatable, Sendable {
  /// Its name in the inventory.
  public var name: String
  /// The dongles that reach it; `nil` for an emulated lock, which needs none.
  public var dongles: [String]?
  /// Whether it has a motor that wears, and a door that it may leave open.
  public var isReal: Bool
  /// The maximum number of movements in any twelve hours.
  public var perShift: Int?
  /// The present value of its cycle counter.
  public var cycleCounter: Int
  /// Whether it is fuzzed in the remaining time.
  public var isFuzzed: Bool
  /// Why it is out of use, if it is.
  public var outOfUse: String?

  /// Makes a lock.
  public init(
    name: String, dongles: [String]?, isReal: Bool = true, perShift: Int? = nil, cycleCounter: Int = 0,
    isFuzzed: Bool = false, outOfUse: String? = nil
  ) {
    self.name = name
    self.dongles = dongles
    self.isReal = isReal && dongles != nil
    self.perShift = perShift
    self.cycleCounter = cycleCounter
    self.isFuzzed = isFuzzed
    self.outOfUse = outOfUse
  }
}

/// A dongle of a night.
public struct NightDongle: Equatable, Sendable {
  /// Its name in the inventory.
  public var name: String
  /// Why it is out of use, if it is.
  public var outOfUse: String?

  /// Makes a dongle.
  public init(name: String, outOfUse: String? = nil) {
    self.name = name
    self.outOfUse = outOfUse
  }
}

/// The budgets and the timeouts of a night.
public struct NightSettings: Equatable, Sendable {
  /// The duration of the night, after which nothing begins.
  public var duration: Interval
  /// The maximum number of movements of all locks together; `nil` for no limit.
  public var actuations: Int?
  /// The maximum number of all retries.
  public var retries = 20
  /// How often a case is retried after a lab fault.
  public var labRetries = 3
  /// The number of locks without a dongle that are used concurrently.
  public var processes = 2
  /// How long a run may show no sign of life before it counts as hung.
  public var silence = Interval.milliseconds(4500)
  /// How long a hung run may take to end after it was asked to.
  public var hungGrace = Interval.seconds(1)
  /// How long any other run may take: it parks its lock in this time.
  public var grace = Interval.seconds(90)
  /// The duration of one stretch of fuzzing.
  public var fuzzing = Interval.seconds(600)
  /// The maximum number of movements of a stretch of fuzzing.
  public var fuzzActuations = 100
  /// The kind of transport to the locks.
  public var transport = NightTransport.dongle
  /// How long a run may wait for its transport, in addition to its time limit.
  public var wait = Interval.zero

  /// Makes settings.
  public init(
    duration: Interval, actuations: Int? = nil, retries: Int = 20, labRetries: Int = 3, processes: Int = 2,
    silence: Interval = Interval.milliseconds(4500), hungGrace: Interval = Interval.seconds(1),
    grace: Interval = Interval.seconds(90), fuzzing: Interval = Interval.seconds(600),
    fuzzActuations: Int = 100, transport: NightTransport = NightTransport.dongle,
    wait: Interval = Interval.zero
  ) {
    self.duration = duration
    self.actuations = actuations
    self.retries = retries
    self.labRetries = labRetries
    self.processes = processes
    self.silence = silence
    self.hungGrace = hungGrace
    self.grace = grace
    self.fuzzing = fuzzing
    self.fuzzActuations = fuzzActuations
    self.transport = transport
    self.wait = wait
  }
}

extension NightSettings {
  /// Makes the settings of a plan.
  public init(_ plan: NightPlan, processes: Int) {
    self.init(
      duration: plan.duration, actuations: plan.actuations, retries: plan.retries, processes: processes)
    guard let fuzz = plan.fuzz else { return }
    (fuzzing, fuzzActuations) = (fuzz.stretch, fuzz.actuations)
  }
}

/// The kind of transport to the locks of a night.
public enum NightTransport: String, Sendable {
  /// A dongle of the bench.
  case dongle
  /// A place of a lab, which each run reserves and releases.
  case place
}

/// A lock or a dongle, by its name.
public enum NightDevice: Hashable, Sendable {
  /// A lock.
  case lock(String)
  /// A dongle.
  case dongle(String)
}

/// The result of one run of a child process.
public struct NightEnding: Equatable, Sendable {
  /// How it ended.
  public var verdict: Record.Ending
  /// Why, in one line.
  public var message: String
  /// The value of the lock's cycle counter afterwards; `nil` if it is unknown.
  public var cycleCounter: Int?
  /// How the lock was left; `nil` if it needs no parking.
  public var park: ParkState?
  /// How long the lock must rest, if a limit with a known end requires it.
  public var pause: Interval?
  /// The device that the run put out of use.
  public var outOfUse: NightDevice?
  /// The permanent choices that a case has shown, if it agreed by itself.
  public var shown: [Shown] = []
  /// The options of a choice that explain the observations.
  public struct Shown: Equatable, Sendable {
    var choice: String
    var options: [String]
  }

  /// Whether it contradicts earlier cases: a retry cannot change that.
  var isContradiction: Bool { verdict == .diverged && !shown.isEmpty }

  /// Makes an ending.
  public init(
    _ verdict: Record.Ending, _ message: String = "", cycleCounter: Int? = nil, park: ParkState? = nil,
    pause: Interval? = nil, outOfUse: NightDevice? = nil
  ) {
    self.verdict = verdict
    self.message = message
    self.cycleCounter = cycleCounter
    self.park = park
    self.pause = pause
    self.outOfUse = outOfUse
  }
}

/// One run of a child process: a case, a stretch of fuzzing, or parking.
public struct NightAttempt: Equatable, Sendable {
  /// The kind of work.
  public enum Work: Equatable, Sendable {
    /// A case, by its identity.
    case test(String)
    /// Fuzzing, for a time.
    case fuzz(Interval)
    /// Parking the lock, which was left unparked.
    case park
  }

  /// Its number in the night, from 1.
  public var number: Int
  /// The work.
  public var work: Work
  /// The lock.
  public var lock: String
  /// The dongle; `nil` for a lock that needs none.
  public var dongle: String?
  /// The number of the attempt at the case, from 1.
  public var attempt = 1
  /// The maximum number of movements.
  public var actuations: Int
  /// The value of the lock's cycle counter before it.
  public var cycleCounter: Int
  /// Whether to check the lock's health first.
  public var checksHealth = false

  /// Makes an attempt.
  public init(
    number: Int, work: Work, lock: String, dongle: String? = nil, attempt: Int = 1, actuations: Int,
    cycleCounter: Int, checksHealth: Bool = false
  ) {
    self.number = number
    self.work = work
    self.lock = lock
    self.dongle = dongle
    self.attempt = attempt
    self.actuations = actuations
    self.cycleCounter = cycleCounter
    self.checksHealth = checksHealth
  }
}

/// The result of a planned case.
public struct NightResult: Equatable, Sendable {
  /// The cause that prevented a verdict.
  public enum Cause: String, CaseIterable, Sendable {
    /// The night was over.
    case time
    /// The movements were used up, or another safety limit was reached.
    case budget
    /// Its lock, or every transport to it, was out of use.
    case device
    /// The night was stopped.
    case stopped
    /// Its runs were killed repeatedly.
    case losses
    /// The record could not be written.
    case record

    /// The ending of a case that was begun and has no verdict.
    public var ending: Record.Ending {
      switch self {
      case .budget: .limited
      case .device: .labFault
      case .time, .stopped, .losses, .record: .incomplete
      }
    }
  }

  /// How it ended; for a case without a verdict, if it was begun.
  public var ending: Record.Ending
  /// Why, in one line.
  public var reason: String
  /// The cause that prevented a verdict, if one did.
  public var cause: Cause?

  /// Makes the result of a case that ended.
  public init(_ ending: Record.Ending, _ reason: String = "") {
    (self.ending, self.reason) = (ending, reason)
  }

  /// Makes the result of a case without a verdict.
  public init(notRun cause: Cause, _ reason: String = "") {
    (ending, self.cause, self.reason) = (cause.ending, cause, reason)
  }

  /// The name in a record for a case without a verdict.
  static let notRun = "not-run"

  /// The name in a record.
  public var name: String { cause == nil ? ending.name : Self.notRun }

  /// Whether the device was judged.
  public var isJudgement: Bool { cause == nil && ending.isVerdict }
}
