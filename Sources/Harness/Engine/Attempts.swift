import Basics
import Conformance

/// The result of several attempts at one test: the single policy for lab faults, for everything that executes tests.
///
/// | an attempt | what follows |
/// |---|---|
/// | has a fault that the device may have caused | another, after a restart; the same fault three times is a divergence: the device stopped answering |
/// | has a fault of a program of the lab, if a campaign investigates those | the same: it is a finding about the lab |
/// | has another fault, or a different one than before | no verdict |
/// | passes after one with a fault | no verdict: the lab caused the fault |
/// | diverges after the link was lost on the air | another, up to a maximum: the failure proves nothing, neither for nor against the device |
/// | anything else | its result is final |
struct Attempts {
  /// The consequence of an attempt.
  enum Consequence: Equatable {
    /// Its result is final.
    case isFinal
    /// No result yet: another attempt follows, after a restart of the device or at once.
    case again(afresh: Bool)
    /// The device caused this fault.
    case stoppedAnswering(LabFault)
    /// There is no verdict, for this reason.
    case noVerdict(LabFault)
  }

  /// The additional delay before a test on a new device after each attempt that the air disturbed. Devices advertise
  /// every half second, or every second: without the delay, the same advertisement would be disturbed again.
  static var shift: Interval { .milliseconds(170) }

  /// The number of equal faults after restarts that is attributed to the device.
  static let maximumFaults = 3

  /// The faults so far.
  private(set) var faults: [LabFault] = []
  /// The number of attempts that proved nothing, since a link was lost on the air.
  private(set) var losses = 0
  /// The divergences that followed on a link that the device itself had ended.
  private var ownDisconnections: [String] = []
  private let maximumLosses: Int
  private let needsLinks: Bool
  /// Whether to investigate a repeated fault of a program of the lab, too.
  private let followsPrograms: Bool

  private init(maximumLosses: Int, needsLinks: Bool, followsPrograms: Bool = false) {
    (self.maximumLosses, self.needsLinks) = (maximumLosses, needsLinks)
    self.followsPrograms = followsPrograms
  }

  /// The policy for a scenario: its expectations are met or not, even over another link. A pass despite a lost link
  /// is a pass, and a link that the device ended in the same way in each attempt was not lost on the air.
  static var written: Attempts { Attempts(maximumLosses: 3, needsLinks: false) }

  /// The policy for a generated test: lost links may have left out choices, so that only an attempt with all its
  /// links is the same test.
  ///
  /// - Parameters:
  ///   - maximumLosses: how many attempts may prove nothing.
  ///   - followsPrograms: whether a repeated fault of a program of the lab is investigated, too.
  static func drawn(maximumLosses: Int, followsPrograms: Bool = false) -> Attempts {
    Attempts(maximumLosses: maximumLosses, needsLinks: true, followsPrograms: followsPrograms)
  }

  /// The policy for a test of a campaign, which judges lost links itself and follows up failures.
  static var ofCampaign: Attempts {
    Attempts(maximumLosses: 0, needsLinks: false, followsPrograms: true)
  }

  /// The policy for a caller that judges lost links itself: a single attempt.
  static var single: Attempts { Attempts(maximumLosses: 0, needsLinks: false) }

  /// Whether the maximum number of attempts lost a link on the air.
  var areUsedUp: Bool { maximumLosses > 0 && losses == maximumLosses }

  /// The number of attempts without a result.
  var count: Int { faults.count + losses }

  /// How a complete attempt failed.
  struct Failure {
    var summary: String
    var signature: String
    /// Whether the device is known to be the cause.
    var isOfDevice: Bool

    init(_ divergence: Divergence) {
      (summary, signature) = (divergence.summary, divergence.signature)
      isOfDevice = divergence.explanation?.isOfDevice == true
    }

    init(_ unmet: UnmetExpectation) {
      (summary, signature) = (unmet.summary, unmet.signature)
      isOfDevice = unmet.explanation?.isOfDevice == true
    }
  }

  /// One attempt, with its result as far as it came.
  enum Attempt<Ending> {
    /// It was complete, with its failure.
    case ended(Ending, Failure?, wasDisturbed: Bool)
    /// A fault interrupted it.
    case broken(Ending, LabFault)
    /// It is final, whatever the attempts before.
    case final(Ending)
  }

  /// Makes attempts at a test until there is a result.
  ///
  /// - Parameters:
  ///   - first: an earlier attempt.
  ///   - isStopped: whether to make no more attempts.
  ///   - note: called for each attempt without a result, with its number.
  ///   - restart: restarts the device after a fault.
  ///   - attempt: makes one, given the number of earlier attempts that proved nothing.
  /// - Returns: the result of the last attempt, and the fault that the device caused if it stopped answering.
  /// - Throws: why there is no verdict.
  mutating func make<Ending>(
    following first: Attempt<Ending>? = nil, isStopped: () -> Bool, note: (LabFault, Int) -> Void,
    restart: (LabFault) throws(LabFault) -> Void, _ attempt: (_ losses: Int) -> Attempt<Ending>
  ) throws(LabFault) -> (ending: Ending, stoppedAnswering: LabFault?) {
    var last = first ?? attempt(losses)
    while true {
      let before = count
      let (ending, consequence): (Ending, Consequence)
      switch last {
      case .ended(let end, let failure, let wasDisturbed):
        (ending, consequence) = (end, decide(on: failure, wasDisturbed: wasDisturbed))
      case .broken(_, let trouble) where trouble.symptom == .stopped: throw trouble
      case .broken(let end, let trouble): (ending, consequence) = (end, decide(on: trouble))
      case .final(let end): return (end, nil)
      }
      if count > before { note(lastFault, count) }
      switch consequence {
      case .isFinal: return (ending, nil)
      case .noVerdict(let fault): throw fault
      case .stoppedAnswering(let fault): return (ending, fault)
      case .again(let afresh):
        if isStopped() { throw lastFault }
        if afresh { try restart(lastFault) }
      }
      last = attempt(losses)
    }
  }

  /// Decides after an attempt that ended.
  mutating func decide(on failure: Failure?, wasDisturbed: Bool) -> Consequence {
    guard wasDisturbed, maximumLosses > 0, failure != nil || needsLinks else {
      if failure == nil, let fault = faults.first { return .noVerdict(fault) }
      return .isFinal
    }
    losses += 1
    let ending = failure?.summary ?? "no divergence"
    lastFault = LabFault(.linkLost, "this attempt ended with: \(ending)")
    if let failure, failure.isOfDevice { ownDisconnections.append(failure.signature) }
    guard areUsedUp else { return .again(afresh: false) }
    if !needsLinks, ownDisconnections.count == losses,
      ownDisconnections.allSatisfy({ $0 == ownDisconnections[0] })
    {
      return .isFinal
    }
    let words =
      "something was lost on the air in each of \(maximumLosses) attempts; the last ended with: \(ending)"
    return .noVerdict(LabFault(.linkLost, words))
  }

  /// Decides after an attempt that a fault interrupted.
  mutating func decide(on fault: LabFault) -> Consequence {
    faults.append(fault)
    lastFault = fault
    guard fault.isDevices || followsPrograms && fault.symptom == .programFailed,
      fault.symptom == faults[0].symptom
    else { return .noVerdict(faults[0]) }
    return faults.count == Self.maximumFaults ? .stoppedAnswering(fault) : .again(afresh: true)
  }

  /// The fault of the last attempt without a result, for the record.
  private(set) var lastFault = LabFault(.linkLost, "")
}

extension LabFault {
  /// Whether the device may cause the fault, if it repeats.
  var isDevices: Bool { [.noAnswer, .badAnswer, .ended].contains(symptom) }
}
