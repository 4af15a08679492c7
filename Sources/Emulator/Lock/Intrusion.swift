import Bluetooth
import Conformance
import Sesame
import Basics

/// An action of a third party without a key that connects to the lock while its client does not.
///
/// It connects, enables notifications, sends its messages after the token, and disconnects after a while;
/// until then the lock does not advertise. It cannot connect to a lock that is not advertising.
enum Intrusion: String, CaseIterable, Sendable {
  /// It sends nothing.
  case busy
  /// An unlock in clear.
  case unlock
  /// A lock in clear.
  case lock
  /// A login with a made-up proof.
  case wrongKey = "wrong-key"
  /// All messages of the owner's last session that had more than a login, including the login.
  case replay

  /// The name of the fault.
  static let fault = "third-party"
  /// How long it stays.
  static let linkDuration = Interval.milliseconds(1500)

  /// Reads the fault; `nil` for another fault, or one that is cancelled.
  init?(_ fault: Fault) throws(LabFault) {
    guard fault.name == Self.fault, !fault.value.isNothing else { return nil }
    guard let known = Self(rawValue: fault.value.description) else {
      let values = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw LabFault(.notPossible, "a third-party central does one of: \(values); and not '\(fault.value)'")
    }
    self = known
  }

  /// The frames that it sends to a lock of a generation.
  ///
  /// Its link has the minimum MTU: of the messages that the owner sent with a larger one, it repeats those
  /// that fit.
  ///
  /// - Parameter overheard: the frames of the owner's last session.
  func frames(for generation: Generation, overheard: [[UInt8]]) -> [[UInt8]] {
    let segmenter = Segmenter()
    switch self {
    case .busy: return []
    case .unlock:
      return segmenter.frames(of: LockCommand.unlock(Self.tag).encoded(for: generation), .plaintext)
    case .lock:
      return segmenter.frames(of: LockCommand.lock(Self.tag).encoded(for: generation), .plaintext)
    case .wrongKey:
      return segmenter.frames(
        of: LockCommand.login(login(for: generation)).encoded(for: generation), .plaintext)
    case .replay: return overheard.filter { $0.count <= Segmenter.defaultFrameSize }
    }
  }

  private func login(for generation: Generation) -> LoginCommand {
    let proof = Proof(word: 0)
    guard generation == .os2 else { return .os3(proof) }
    var source = SeededGenerator(seed: 0, for: "stranger")
    return .os2(
      keyIndex: 0, PrivateKey(from: &source).publicKey, appToken: Token(word: 0x5748_4F4D), proof)
  }

  private static let tag = HistoryTag.text("third-party", for: .os2)
}

/// The owner's frames that an eavesdropper has: all of one session, up to a limit.
struct Overheard: Sendable {
  /// The frames of the last session that had more than a login.
  private(set) var frames: [[UInt8]] = []
  private var current: [[UInt8]] = []
  private var loginLength = 0
  private var isListening = false
  private static let limit = 64

  /// Begins a connection. Messages to a lock without an owner are not kept: replaying them would register
  /// one.
  mutating func begin(with lock: EmulatedLock) {
    isListening = lock.isRegistered
    loginLength = lock.generation == .os2 ? 4 : 1
    current = []
  }

  mutating func record(_ frame: [UInt8]) {
    guard isListening, current.count < Self.limit else { return }
    current.append(frame)
    if current.count > loginLength { frames = current }
  }

  /// Forgets everything.
  mutating func forget() { self = Overheard() }
}
