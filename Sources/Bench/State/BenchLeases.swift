import Secrets
import Transports
public import Basics
import System
public import Conformance

/// The leases of a process on a bench: a lock, and a dongle that reaches it.
public struct BenchLeases {
  public private(set) var lock: (name: String, lease: Lease)?
  public private(set) var dongle: Lease?
  /// The leased transport.
  public private(set) var transport: TransportChoice?
  /// Why a device could not be leased.
  public private(set) var fault: LabFault?
  /// The total time to wait for leases of other processes.
  private let wait: Interval
  /// When that time ends; set by the first wait.
  private var limit: Interval?

  public init(wait: Interval = .zero) { self.wait = wait }

  /// The token of the lock's lease.
  public var token: UInt64? { lock?.lease.token }

  /// Leases a lock, unless it is leased already.
  ///
  /// - Parameters:
  ///   - identity: its identity.
  ///   - name: its name, for messages.
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

  /// Leases the first free transport, unless one is leased already.
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

  /// Releases the transport, and leases the next usable one.
  public mutating func changeDongle(_ choices: [TransportChoice]) {
    dongle = nil
    transport = nil
    take(oneOf: choices)
  }

  /// Records why the lock must not be used.
  public mutating func refuse(_ reason: String) { fault = fault ?? LabFault(.noDevice, reason) }

  /// Verifies that all leases are still held.
  public func confirm() throws(LabFault) {
    if let fault { throw fault }
    try lock?.lease.confirm()
    try dongle?.confirm()
  }

  /// The properties of the leases in a manifest.
  public var properties: [(name: String, value: String)] {
    var all: [(name: String, value: String)] = []
    if let name = transport?.dongle { all.append(("dongle", name)) }
    if let lock { all.append(("lease.lock", "\(lock.lease.identity) \(lock.lease.token)")) }
    if let dongle { all.append(("lease.dongle", "\(dongle.identity) \(dongle.token)")) }
    return all
  }

  /// How long to wait for a process that parks a lock; parking that takes longer has failed.
  private static let parkingTime = Interval.seconds(120)

  /// Leases a lock. A lock that is being parked after its run was killed is always waited for.
  private mutating func lease(of identity: String, called name: String) throws(LabFault) -> Lease {
    let parkingLimit = MonotonicClock.now + Self.parkingTime
    while true {
      do throws(LabFault) {
        return try Lease(of: identity, for: Self.command)
      } catch {
        let isBeingParked =
          !Watcher.isOurs && Watcher.isHolder(Lease.holder(of: identity))
          && MonotonicClock.now < parkingLimit && !Interruption.isHeard
        if isBeingParked {
          rest(for: Self.pause)
        } else if !waits(for: [identity], saying: "\(name): \(error.detail)") {
          throw error
        }
      }
    }
  }

  private static let pause = Interval.milliseconds(200)

  /// Waits a little if other processes hold one of several identities and waiting is allowed.
  ///
  /// - Returns: false if none is held, or the time to wait is over.
  private mutating func waits(for identities: [String], saying words: String) -> Bool {
    guard wait > .zero, !Interruption.isHeard, identities.contains(where: { Lease.holder(of: $0) != nil })
    else { return false }
    if limit == nil {
      StatusLine(.standardError()).say("lockstep: \(words); waiting up to \(wait)")
    }
    let last = limit ?? MonotonicClock.now + wait
    limit = last
    guard MonotonicClock.now < last else { return false }
    rest(for: Self.pause)
    return true
  }

  /// The command line, which is shown to other users who request the device.
  private static var command: String {
    (["lockstep"] + Invocation.words.map { shellWord(withoutSecrets($0)) })
      .joined(separator: " ")
  }
}
