import Secrets
import Transports
public import Basics
import System
public import Conformance

/// What a process has of a bench, for itself alone: a lock, and a dongle that leads to it.
public struct BenchLeases {
  public private(set) var lock: (name: String, lease: Lease)?
  public private(set) var dongle: Lease?
  /// The way that was taken.
  public private(set) var transport: TransportChoice?
  /// Why something is not ours.
  public private(set) var fault: LabFault?
  /// How long what another process has is waited for, all in all.
  private let wait: Interval
  /// Until when, once it was waited for.
  private var limit: Interval?

  public init(wait: Interval = .zero) { self.wait = wait }

  /// The number of the lease of the lock.
  public var token: UInt64? { lock?.lease.token }

  /// Takes a lock, unless it has it.
  ///
  /// - Parameters:
  ///   - identity: what it is.
  ///   - name: what people call it.
  public mutating func take(lock identity: String, name: String) {
    guard fault == nil, lock?.lease.identity != identity else { return }
    do throws(LabFault) {
      lock = (name, try lease(of: identity, called: "the lock \(name)"))
      if let refusal = LockHealth.refusal(of: identity, called: "the lock \(name)") {
        fault = LabFault(.noDevice, refusal)
      }
    } catch {
      fault = LabFault(error.symptom, "the lock \(name): \(error.detail)")
    }
  }

  /// Takes the first way that is free, unless it has one.
  public mutating func take(oneOf choices: [TransportChoice]) {
    guard fault == nil, dongle == nil, !choices.isEmpty else { return }
    var reasons: [String] = []
    repeat {
      reasons = []
      var identities: [String] = []
      for choice in choices {
        let identity = choice.spec.identity
        if let refusal = LockHealth.refusal(of: identity, called: choice.shortName) {
          reasons.append(refusal)
          continue
        }
        do throws(LabFault) {
          dongle = try Lease(of: identity, for: Self.command)
          transport = choice
          return
        } catch {
          reasons.append(choices.count > 1 ? "\(choice.name): \(error.detail)" : error.detail)
          identities.append(identity)
        }
      }
      guard waits(for: identities, saying: reasons.joined(separator: "; ")) else { break }
    } while true
    let count = choices.count > 1 ? "none of the dongles can be used: " : ""
    fault = LabFault(.noDevice, count + reasons.joined(separator: "; "))
  }

  /// Lets go of the way, and takes the next one that can be used.
  public mutating func changeDongle(_ choices: [TransportChoice]) {
    dongle = nil
    transport = nil
    take(oneOf: choices)
  }

  /// Gives the lock up, for a reason.
  public mutating func refuse(_ reason: String) { fault = fault ?? LabFault(.noDevice, reason) }

  /// Makes sure that all of it is still ours.
  public func confirm() throws(LabFault) {
    if let fault { throw fault }
    try lock?.lease.confirm()
    try dongle?.confirm()
  }

  /// What a manifest says of it.
  public var properties: [(name: String, value: String)] {
    var all: [(name: String, value: String)] = []
    if let name = transport?.dongle { all.append(("dongle", name)) }
    if let lock { all.append(("lease.lock", "\(lock.lease.identity) \(lock.lease.token)")) }
    if let dongle { all.append(("lease.dongle", "\(dongle.identity) \(dongle.token)")) }
    return all
  }

  /// For how long a process that parks a lock is waited for: it is done before that, or there is trouble.
  private static let restPatience = Interval.seconds(120)

  /// Takes the lease of a lock. One that is held by the process which parks the lock whose run died is waited for
  /// in any case.
  private mutating func lease(of identity: String, called name: String) throws(LabFault) -> Lease {
    let restLimit = MonotonicClock.now + Self.restPatience
    while true {
      do throws(LabFault) {
        return try Lease(of: identity, for: Self.command)
      } catch {
        let isBroughtToRest =
          !Watcher.isOurs && Watcher.isHolder(Lease.holder(of: identity))
          && MonotonicClock.now < restLimit && !Interruption.isHeard
        if isBroughtToRest {
          rest(for: Self.pause)
        } else if !waits(for: [identity], saying: "\(name): \(error.detail)") {
          throw error
        }
      }
    }
  }

  private static let pause = Interval.milliseconds(200)

  /// Waits a little where somebody has one of some things and it is to be waited for.
  ///
  /// - Returns: false where nobody has one, or it was waited for long enough.
  private mutating func waits(for identities: [String], saying words: String) -> Bool {
    guard wait > .zero, !Interruption.isHeard, identities.contains(where: { Lease.holder(of: $0) != nil })
    else { return false }
    if limit == nil {
      StatusLine(.standardError()).say("lockstep: \(words); it is waited for, up to \(wait)")
    }
    let last = limit ?? MonotonicClock.now + wait
    limit = last
    guard MonotonicClock.now < last else { return false }
    rest(for: Self.pause)
    return true
  }

  /// The command line, for who wants it meanwhile.
  private static var command: String {
    (["lockstep"] + Invocation.words.map { shellWord(withoutSecrets($0)) })
      .joined(separator: " ")
  }
}
