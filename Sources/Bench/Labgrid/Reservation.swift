import System
public import Conformance
import Glibc
public import Basics
import Synchronization

/// A place of a lab that this run holds: reserved, acquired, monitored while it is used, and released.
///
///     stores its owner ─▶ starts the watchdog ─▶ reserves ─▶ waits ─▶ acquires ─▶ polls every few seconds ─▶ releases
///
/// A lab's coordinator is no reliable lock: it loses every acquisition when it restarts, and releases none whose
/// holder died. A thread therefore polls it every few seconds; if the place is lost, ``fault`` says so, and nothing
/// is driven any more. A watchdog, in a process of its own, releases our places if we die; if it is killed with us,
/// the next run on this machine releases them. Devices at this bench are additionally protected by a kernel lock.
public final class Reservation: Sendable {
  /// The requested place.
  public struct Request: Equatable, Sendable {
    /// The coordinator.
    public var address: LabAddress
    /// The tags that the place must have.
    public var tags: [LabTag]
    /// The maximum time to wait; `nil` for the default.
    public var wait: Interval?

    /// Makes a request.
    public init(_ address: LabAddress, tags: [LabTag], wait: Interval? = nil) {
      (self.address, self.tags, self.wait) = (address, tags, wait)
    }

    /// The maximum time to wait.
    public var longestWait: Interval { wait ?? .seconds(600) }

    /// The same request as options of a command line.
    public var words: [String] { words(tags: tags.map(\.description).joined(separator: ",")) }

    /// The options that request one place of the lab.
    public func words(at place: String) -> [String] { words(tags: "name=\(place)") }

    private func words(tags: String) -> [String] {
      ["--lab", address.description] + (tags.isEmpty ? [] : ["--tags", tags])
        + (wait.map { ["--lab-wait", "\($0.nanoseconds / 1_000_000_000)s"] } ?? [])
    }
  }

  /// Why a reservation failed.
  public enum Refusal: Error, Equatable, Sendable {
    /// The lab has no such place, or denies it.
    case trouble(LabFault)
    /// A stop was requested during the wait.
    case stopped
  }

  /// How often the coordinator is polled, and for how long it may be silent.
  private static let (period, silence) = (Interval.seconds(3), Interval.seconds(20))

  /// The place, as it was when it was acquired.
  public let place: LabPlace
  /// The coordinator.
  public var address: LabAddress { client.address }

  private let client: LabgridClient
  private let state: Mutex<State>
  /// Whether it was released.
  private let isOver = Atomic(false)

  private struct State {
    let watchdog: Watchdog
    var fault: LabFault?
  }

  /// Acquires a place.
  ///
  /// - Parameters:
  ///   - unusable: why a place cannot be used, before it is reserved; `nil` if it can.
  ///   - say: reports to the user what the wait is for.
  ///   - isStopped: whether to stop waiting.
  public init(
    _ request: Request, unusable: (LabPlace) -> String? = { _ in nil }, say: (String) -> Void,
    isStopped: () -> Bool
  ) throws(Refusal) {
    let client = LabgridClient(request.address, owner: .new())
    func refusal(_ fault: LabgridFault) -> Refusal {
      fault == .stopped
        ? .stopped : .trouble(client.trouble(fault, Self.absence(of: request.tags, at: request.address)))
    }
    Watchdog.releaseRemains(at: request.address, python: client.python, say: say)
    // No reservation is made for a place that does not exist.
    do throws(LabgridFault) {
      let places = try client.places(with: request.tags)
      let reasons = places.compactMap(unusable)
      if reasons.count == places.count, let first = reasons.first { throw .refused(.resource, first) }
    } catch { throw refusal(error) }
    let watchdog: Watchdog
    do { watchdog = try Watchdog(client) } catch { throw .trouble(error) }
    self.client = client
    do {
      place = try Self.acquire(client, request, unusable, say, isStopped)
    } catch {
      if let words = watchdog.end() { say(words) }
      throw refusal(error)
    }
    state = Mutex(State(watchdog: watchdog))
    inBackground { [weak self] in
      while true {
        // The watchdog does not keep it alive.
        guard let isOver = self?.waitForPoll(), !isOver else { return }
        self?.poll()
      }
    }
  }

  deinit { release { _ in } }

  /// Stores the identity of the lock at the place: if the run dies, the watchdog has it parked before it
  /// releases the place.
  public func register(lock identity: String) { state.withLock { $0.watchdog.register(lock: identity) } }
}

// MARK: - Acquiring

extension Reservation {
  /// The places of a lab that have all of some tags, free or not.
  ///
  /// - Throws: that there is none, or why the lab cannot be reached.
  public static func places(with tags: [LabTag], at address: LabAddress) throws(LabFault) -> [LabPlace] {
    let client = LabgridClient(address, owner: .new())
    do throws(LabgridFault) {
      return try client.places(with: tags)
    } catch {
      throw client.trouble(error, absence(of: tags, at: address))
    }
  }

  private static func absence(of tags: [LabTag], at address: LabAddress) -> String {
    let wanted = tags.isEmpty ? "" : " with " + tags.map(\.description).joined(separator: ",")
    return "no place\(wanted) at \(address)"
  }

  private static func acquire(
    _ client: LabgridClient, _ request: Request, _ unusable: (LabPlace) -> String?, _ say: (String) -> Void,
    _ isStopped: () -> Bool
  ) throws(LabgridFault) -> LabPlace {
    let (name, free) = try reserve(client, request, say, isStopped)
    if let reason = free.flatMap(unusable) { throw .refused(.resource, reason) }
    let place = try client.acquire(name).places.first { $0.name == name }
    // The place may have been deleted in between.
    guard let place else { throw .refused(.place, "there is no place \(name) any more") }
    if let loss = place.loss(for: client.owner.description) { throw .refused(.held, loss) }
    return place
  }

  /// Reserves a place, and polls until it is free; polling keeps the reservation alive.
  ///
  /// - Returns: the name of the place, and its state while it is free.
  private static func reserve(
    _ client: LabgridClient, _ request: Request, _ say: (String) -> Void, _ isStopped: () -> Bool
  ) throws(LabgridFault) -> (name: String, place: LabPlace?) {
    let end = MonotonicClock.now + request.longestWait
    var lab = try client.reserve(request.tags)
    var isReported = false
    while true {
      let ours = lab.reservations.first { $0.owner == client.owner.description }
      switch (ours?.state, ours?.place) {
      case (.allocated, let name?), (.acquired, let name?):
        return (name, lab.places.first { $0.name == name && $0.holder == nil })
      case (.waiting, _): break
      case (let state, _): throw .refused(.reservation, "the reservation is \(state?.rawValue ?? "gone")")
      }
      if !isReported {
        let holders = lab.places.filter { $0.holder != nil && $0.has(request.tags) }
        let who = holders.prefix(4).map { "; \($0.name) is held by \($0.holder ?? "unknown")" }
        say("lockstep: waiting for a place, \(request.longestWait) at most" + who.joined())
        isReported = true
      }
      let next = min(end, MonotonicClock.now + .seconds(1))
      while MonotonicClock.now < next {
        if isStopped() { throw .stopped }
        rest(for: .milliseconds(50))
      }
      guard next < end else {
        throw .refused(.held, "none became available within \(request.longestWait); --lab-wait waits longer")
      }
      lab = try refresh(client, isStopped)
    }
  }

  /// Keeps the reservation alive. A coordinator that does not answer is polled for a while: it keeps a
  /// reservation for longer than that.
  private static func refresh(
    _ client: LabgridClient, _ isStopped: () -> Bool
  ) throws(LabgridFault) -> LabState {
    let begin = MonotonicClock.now
    while true {
      do throws(LabgridFault) {
        return try client.refresh()
      } catch {
        guard error.isSilence, MonotonicClock.now - begin < silence, !isStopped() else { throw error }
      }
      rest(for: .milliseconds(500))
    }
  }
}

// MARK: - While it is ours

extension Reservation {
  /// Why the place was lost; `nil` while it is held.
  public var fault: LabFault? { state.withLock { $0.fault } }

  /// Whether another user holds the place after it was lost: then not even parking is allowed.
  public func isTaken() -> Bool {
    // It may have been free when it was lost. While the coordinator is unreachable, no other user can have acquired
    // it.
    guard fault != nil, let lab = try? client.fetchState() else { return false }
    let holder = lab.places.first { $0.name == place.name }?.holder
    return holder.map { $0 != client.owner.description } ?? false
  }

  /// Waits until the next poll; returns whether polling must end.
  private func waitForPoll() -> Bool {
    let end = MonotonicClock.now + Self.period
    while MonotonicClock.now < end {
      if isOver.load(ordering: .relaxed) || fault != nil { return true }
      rest(for: .milliseconds(50))
    }
    return false
  }

  /// Polls the coordinator for the place. If it does not answer, retries for a while: only the coordinator could give
  /// the place to another user.
  private func poll() {
    let begin = MonotonicClock.now
    @Sendable func isOver() -> Bool { self.isOver.load(ordering: .relaxed) }
    var words = ""
    repeat {
      do throws(LabgridFault) {
        let lab = try client.fetchState(unless: isOver)
        guard let place = lab.places.first(where: { $0.name == place.name }) else {
          return lose(LabFault(.transportLost, "the lab has no place \(place.name) any more"))
        }
        guard let loss = place.loss(for: client.owner.description) else { return }
        return lose(LabFault(.transportLost, loss))
      } catch {
        words = client.trouble(error, "the coordinator at \(address) cannot be asked").detail
      }
      rest(for: .milliseconds(500))
    } while MonotonicClock.now - begin < Self.silence && !isOver()
    lose(LabFault(.transportLost, words))
  }

  private func lose(_ fault: LabFault) {
    // A place that was released is not lost.
    if !isOver.load(ordering: .relaxed) { state.withLock { $0.fault = fault } }
  }
}

// MARK: - Releasing

extension Reservation {
  /// Releases the place, once. If that fails, the watchdog releases it later.
  public func release(_ say: (String) -> Void) {
    // The run is over, and the lab may take its time.
    Heartbeat.end()
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    if let words = state.withLock({ $0.watchdog.end() }) { say(words) }
  }
}
