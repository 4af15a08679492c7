import Conformance

/// What the attempts at one test come to: the one policy for trouble in the lab, for whatever executes tests.
///
/// | an attempt | what follows |
/// |---|---|
/// | has trouble that may be the device's own doing | another, after a fresh start; the same three times is a divergence: the device stopped answering |
/// | has trouble of a program of the lab, where a campaign follows that up | the same: what leads there is a finding, of the lab |
/// | has other trouble, or not the same as before | no verdict |
/// | agrees after one with trouble | no verdict: the trouble was the lab's |
/// | diverges after the air had lost a link | another, as often as is allowed: what failed then proves nothing, neither for nor against the device |
/// | anything else | it stands |
struct Attempts {
  /// What an attempt means.
  enum Ruling: Equatable {
    /// It is the verdict.
    case stands
    /// It is none, and another is to follow, after a fresh start of the device or at once.
    case again(afresh: Bool)
    /// The device is to blame for this trouble.
    case stoppedAnswering(LabFault)
    /// There is none, and why.
    case noVerdict(LabFault)
  }

  /// The same trouble so often in fresh starts is the device's doing.
  static let maximumFaults = 3

  /// The trouble that there was.
  private(set) var faults: [LabFault] = []
  /// How many attempts proved nothing, since the air had lost a link.
  private(set) var losses = 0
  /// The divergences that followed on a link that the device itself had ended.
  private var hangUps: [String] = []
  private let maximumLosses: Int
  private let needsLinks: Bool
  /// Whether what fails again and again in a program of the lab is followed up, too.
  private let followsPrograms: Bool

  private init(maximumLosses: Int, needsLinks: Bool, followsPrograms: Bool = false) {
    (self.maximumLosses, self.needsLinks) = (maximumLosses, needsLinks)
    self.followsPrograms = followsPrograms
  }

  /// Those at a test that somebody wrote: what it expects is met or is not, also over another link. What agrees in
  /// spite of a lost link agrees, and a link that the device itself ended alike in each attempt is no fault of the
  /// air's.
  static var written: Attempts { Attempts(maximumLosses: 3, needsLinks: false) }

  /// Those at a test that was drawn: what became of its links may have left choices out, so that only an attempt with
  /// all its links is the same test.
  ///
  /// - Parameters:
  ///   - maximumLosses: how many attempts may prove nothing.
  ///   - followsPrograms: whether what fails again and again in a program of the lab is followed up, too.
  static func drawn(maximumLosses: Int, followsPrograms: Bool = false) -> Attempts {
    Attempts(maximumLosses: maximumLosses, needsLinks: true, followsPrograms: followsPrograms)
  }

  /// The one at a test of a campaign, which weighs itself what became of its links, and follows up what fails.
  static var ofCampaign: Attempts {
    Attempts(maximumLosses: 0, needsLinks: false, followsPrograms: true)
  }

  /// The one at a test of which whoever does it weighs himself what became of its links.
  static var single: Attempts { Attempts(maximumLosses: 0, needsLinks: false) }

  /// Whether the air lost a link in as many attempts as there may be.
  var areUsedUp: Bool { maximumLosses > 0 && losses == maximumLosses }

  /// How many came to nothing.
  var count: Int { faults.count + losses }

  /// How an attempt failed that came to its end.
  struct Failure {
    var summary: String
    var signature: String
    /// Whether the device itself is known to be why.
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

  /// One attempt, with what it came to, as far as it came.
  enum Attempt<Ending> {
    /// It came to its end, and how it failed.
    case ended(Ending, Failure?, wasDisturbed: Bool)
    /// Trouble broke it off.
    case broken(Ending, LabFault)
    /// It stands, whatever was before it.
    case final(Ending)
  }

  /// Makes attempts at a test until they come to something.
  ///
  /// - Parameters:
  ///   - first: an attempt that was made already.
  ///   - isStopped: whether no more are to be made.
  ///   - note: told of each attempt that came to nothing, with its number.
  ///   - restart: starts the device afresh after trouble.
  ///   - attempt: makes one; told how many before it proved nothing.
  /// - Returns: what the last one came to, and the trouble for which the device is to blame, if it stopped answering.
  /// - Throws: why there is no verdict.
  mutating func make<Ending>(
    following first: Attempt<Ending>? = nil, isStopped: () -> Bool, note: (LabFault, Int) -> Void,
    restart: (LabFault) throws(LabFault) -> Void, _ attempt: (_ losses: Int) -> Attempt<Ending>
  ) throws(LabFault) -> (ending: Ending, stoppedAnswering: LabFault?) {
    var last = first ?? attempt(losses)
    while true {
      let before = count
      let (ending, ruling): (Ending, Ruling)
      switch last {
      case .ended(let end, let failure, let wasDisturbed):
        (ending, ruling) = (end, rule(on: failure, wasDisturbed: wasDisturbed))
      case .broken(_, let trouble) where trouble.symptom == .stopped: throw trouble
      case .broken(let end, let trouble): (ending, ruling) = (end, rule(on: trouble))
      case .final(let end): return (end, nil)
      }
      if count > before { note(lastFault, count) }
      switch ruling {
      case .stands: return (ending, nil)
      case .noVerdict(let fault): throw fault
      case .stoppedAnswering(let fault): return (ending, fault)
      case .again(let afresh):
        if isStopped() { throw lastFault }
        if afresh { try restart(lastFault) }
      }
      last = attempt(losses)
    }
  }

  /// Takes in how an attempt ended.
  mutating func rule(on failure: Failure?, wasDisturbed: Bool) -> Ruling {
    guard wasDisturbed, maximumLosses > 0, failure != nil || needsLinks else {
      if failure == nil, let fault = faults.first { return .noVerdict(fault) }
      return .stands
    }
    losses += 1
    let ending = failure?.summary ?? "no divergence"
    lastFault = LabFault(.linkLost, "this attempt ended with: \(ending)")
    if let failure, failure.isOfDevice { hangUps.append(failure.signature) }
    guard areUsedUp else { return .again(afresh: false) }
    if !needsLinks, hangUps.count == losses, hangUps.allSatisfy({ $0 == hangUps[0] }) { return .stands }
    let words = "the air lost the link in each of \(maximumLosses) attempts; the last ended with: \(ending)"
    return .noVerdict(LabFault(.linkLost, words))
  }

  /// Takes in the trouble that broke an attempt off.
  mutating func rule(on fault: LabFault) -> Ruling {
    faults.append(fault)
    lastFault = fault
    guard fault.isDevices || followsPrograms && fault.symptom == .programFailed,
      fault.symptom == faults[0].symptom
    else { return .noVerdict(faults[0]) }
    return faults.count == Self.maximumFaults ? .stoppedAnswering(fault) : .again(afresh: true)
  }

  /// What is written down of the last attempt that came to nothing.
  private(set) var lastFault = LabFault(.linkLost, "")
}

extension LabFault {
  /// Whether it may be the device's own doing, if it comes again and again.
  var isDevices: Bool { [.noAnswer, .badAnswer, .ended].contains(symptom) }
}
