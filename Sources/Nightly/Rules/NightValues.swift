public import Conformance
import Bench
public import Basics
public import Journal

/// One scenario on one lock, as a night is to drive it.
public struct NightCase: Equatable, Sendable {
  /// What tells the case from all others: a hash of scenario, arguments, model, firmware and lock. Unique in a night.
  public var identity: String
  /// The suite that asked for it first.
  public var suite: String
  /// The scenario's file.
  public var file: String
  /// Which of several rounds it is, from 1.
  public var round: Int
  /// The lock; `nil` where none is for it.
  public var lock: String?
  /// How long a try may take.
  public var timeout: Interval
  /// How often it is tried again when it diverges.
  public var retries: Int
  /// How many movements a try may cause, parking included.
  public var actuations: Int
  /// Why it is not tried, if it is not.
  public var skipReason: String?
  /// Why no lock is for it, where none is.
  public var unmet: String?
  /// Why its failure is no news: it is driven and reported, and does not make the night red.
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

/// A lock as a night sees it.
public struct NightLock: Equatable, Sendable {
  /// Its name in the inventory.
  public var name: String
  /// The dongles that reach it; `nil` for a lock that is emulated in the process that drives it, and needs none.
  public var dongles: [String]?
  /// Whether it has a motor that wears, and a door that it may leave open.
  public var isReal: Bool
  /// How many movements twelve hours on end may see.
  public var perShift: Int?
  /// What its cycle counter says now.
  public var cycleCounter: Int
  /// Whether it is fuzzed in the time that is left.
  public var isFuzzed: Bool
  /// Why it is not used, if it is not.
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

/// A dongle as a night sees it.
public struct NightDongle: Equatable, Sendable {
  /// Its name in the inventory.
  public var name: String
  /// Why it is not used, if it is not.
  public var outOfUse: String?

  /// Makes a dongle.
  public init(name: String, outOfUse: String? = nil) {
    self.name = name
    self.outOfUse = outOfUse
  }
}

/// The budgets and the timeouts of a night.
public struct NightSettings: Equatable, Sendable {
  /// How long the night is: nothing is begun after it.
  public var duration: Interval
  /// How many movements all locks may make together; `nil` for any number.
  public var actuations: Int?
  /// How often anything may be tried again.
  public var retries = 20
  /// How often a case is tried again that the lab failed.
  public var labRetries = 3
  /// How many locks without a dongle are driven at a time.
  public var processes = 2
  /// How long a run may show no sign of life before it counts as hung.
  public var silence = Interval.milliseconds(4500)
  /// How long a run that hangs may take to end once it is asked to.
  public var hungGrace = Interval.seconds(1)
  /// How long any other may: it parks its lock in this time.
  public var grace = Interval.seconds(90)
  /// How long one stretch of fuzzing is.
  public var fuzzing = Interval.seconds(600)
  /// How many movements a stretch of fuzzing may cause.
  public var fuzzActuations = 100
  /// What leads to the locks, and has the part of a dongle.
  public var transport = NightTransport.dongle
  /// How long a run may wait for its way before it does anything, beside all that it may take.
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
  /// Makes those of a plan.
  public init(_ plan: NightPlan, processes: Int) {
    self.init(
      duration: plan.duration, actuations: plan.actuations, retries: plan.retries, processes: processes)
    guard let fuzz = plan.fuzz else { return }
    (fuzzing, fuzzActuations) = (fuzz.stretch, fuzz.actuations)
  }
}

/// What leads to the locks of a night, by the word for it.
public enum NightTransport: String, Sendable {
  /// A dongle of the bench.
  case dongle
  /// A place of a lab, which each run gets and gives back.
  case place
}

/// A lock or a dongle, by its name.
public enum NightDevice: Hashable, Sendable {
  /// A lock.
  case lock(String)
  /// A dongle.
  case dongle(String)
}

/// What came of one run of a child process.
public struct NightEnding: Equatable, Sendable {
  /// How it ended.
  public var verdict: Record.Ending
  /// Why, in one line.
  public var message: String
  /// What the lock's cycle counter says afterwards; `nil` where that is unknown.
  public var cycleCounter: Int?
  /// How the lock was left; `nil` where nothing is left.
  public var park: ParkState?
  /// How long the lock is to be left alone, where a limit says so that will be over.
  public var pause: Interval?
  /// What the run put out of use.
  public var outOfUse: NightDevice?
  /// What a case showed of choices that a lock makes once, where it agreed by itself.
  public var shown: [Shown] = []
  /// The options of a choice that explain what was shown.
  public struct Shown: Equatable, Sendable {
    var choice: String
    var options: [String]
  }

  /// Whether it showed something else than cases before it: another try takes nothing of that back.
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
  /// What is done.
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
  /// What is done.
  public var work: Work
  /// The lock.
  public var lock: String
  /// The dongle; `nil` for a lock that needs none.
  public var dongle: String?
  /// Which try of the case it is, from 1.
  public var attempt = 1
  /// How many movements it may cause.
  public var actuations: Int
  /// What the lock's cycle counter said before it.
  public var cycleCounter: Int
  /// Whether the lock is to be checked before anything else is done with it.
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

/// What became of a planned case.
public struct NightResult: Equatable, Sendable {
  /// What kept a case from a verdict.
  public enum Cause: String, CaseIterable, Sendable {
    /// The night was over.
    case time
    /// Movements were used up, or another safety limit was reached.
    case budget
    /// Its lock, or all that reaches it, was out of use.
    case device
    /// Somebody stopped the night.
    case stopped
    /// Its runs were killed, again and again.
    case losses
    /// What was done could not be written down.
    case record

    /// How a case ended that was begun and then kept from a verdict.
    public var ending: Record.Ending {
      switch self {
      case .budget: .limited
      case .device: .labFault
      case .time, .stopped, .losses, .record: .incomplete
      }
    }
  }

  /// How it ended; of a case that was kept from a verdict, if it was begun.
  public var ending: Record.Ending
  /// Why, in one line.
  public var reason: String
  /// What kept it from a verdict, where something did.
  public var cause: Cause?

  /// A case ended.
  public init(_ ending: Record.Ending, _ reason: String = "") {
    (self.ending, self.reason) = (ending, reason)
  }

  /// A case was kept from a verdict.
  public init(notRun cause: Cause, _ reason: String = "") {
    (ending, self.cause, self.reason) = (cause.ending, cause, reason)
  }

  /// What stands in a record for a case that was kept from a verdict.
  static let notRun = "not-run"

  /// What stands for it in a record.
  public var name: String { cause == nil ? ending.name : Self.notRun }

  /// Whether the device was judged.
  public var isJudgement: Bool { cause == nil && ending.isVerdict }
}
