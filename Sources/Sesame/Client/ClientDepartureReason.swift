import Bluetooth

/// Why a client shows its status, or shows nothing new.
public struct ClientExplanation: Hashable, Sendable {
  /// The cause, as a stable name in kebab-case: `link-lost`, or the name of a violated rule.
  public var name: String
  /// The observation, as text.
  public var detail: String
  /// Whether the lock itself is the cause, and not the link.
  public var isByLock = false

  init(_ name: String, _ detail: String, isByLock: Bool = false) {
    self.name = name
    self.detail = detail
    self.isByLock = isByLock
  }
}

/// Why a client has lost its lock, other than by a violation.
public enum ClientDepartureReason: String {
  /// No advertisement was received for a while.
  case unheard
  /// The link was not established.
  case notConnected = "not-connected"
  /// The other end is gone, or the air between.
  case linkLost = "link-lost"
  /// The lock ended the link on its own.
  case hungUp = "hung-up"
  /// The lock demands an owner's proof, and the client has no key or pretends to have another one.
  case noKey = "no-key"

  func explained(_ detail: String) -> ClientExplanation {
    ClientExplanation(rawValue, detail, isByLock: self == .hungUp)
  }

  /// Whether the lock ended the link, with the explanation.
  public static func end(_ reason: UInt8, unacknowledged: Int?) -> (isByLock: Bool, words: String) {
    let code = HCIErrorCode(rawValue: reason)
    if [.remoteUserTerminated, .remoteLowResources, .remotePowerOff].contains(code) {
      return (true, "\(code)")
    }
    return switch unacknowledged {
    case nil: (false, "\(code)")
    case 0?: (false, "\(code), all that was sent acknowledged")
    case let count?: (false, "\(code), \(count) packet\(count == 1 ? "" : "s") not acknowledged")
    }
  }

  /// The explanation of a link's end.
  static func explanation(ofEnd reason: UInt8, unacknowledged: Int?) -> ClientExplanation {
    let end = end(reason, unacknowledged: unacknowledged)
    return end.isByLock
      ? hungUp.explained("the lock ended the link, \(end.words)")
      : linkLost.explained("the link ended, \(end.words)")
  }
}

extension SesameClient {
  /// Why the client shows its status; for a silence, what it awaits.
  public func explanation(ofSilence isSilent: Bool) -> ClientExplanation? {
    switch state {
    case .away: return departure
    case .seeking, .heard, .ready, .forgotten: return nil
    case .connecting, .waiting, .registering, .logining, .open: break
    }
    guard isSilent, let awaited else { return nil }
    return ClientExplanation("awaiting", awaited)
  }

  /// What the client awaits from its lock.
  private var awaited: String? {
    switch state {
    case .away, .seeking, .heard, .ready, .forgotten: nil
    case .connecting: "the link"
    case .waiting: "the token"
    case .registering(let registration): registration.awaited
    case .logining(let login): login.isAccepted ? login.session.awaited : "the answer to the login"
    case .open(let session): session.late.map { "the answer to \($0.request.item)" } ?? session.awaited
    }
  }
}

extension SesameClient.Registration {
  /// What the lock has not sent yet.
  var awaited: String {
    guard let session else { return isIdentified ? "the answer to the registration" : "the identity" }
    if seen.generation == .os2, !isAnswered { return "the answer to the registration" }
    if seen.generation == .os2, !isPublished { return "the login that follows a registration" }
    return session.awaited ?? "nothing"
  }

  private var isIdentified: Bool { seen.generation == .os3 }
}

extension SesameClient.Session {
  /// Which of setting and status the lock has not sent yet.
  var awaited: String? {
    if setting == nil { return "the setting" }
    return status == nil ? "a status in which the bolt rests" : nil
  }
}
