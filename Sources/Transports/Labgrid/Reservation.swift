import System
public import Conformance
import Glibc
public import Lab
public import Basics
import Synchronization

/// A place of a lab that is ours: reserved, acquired, looked after while it is used, and given back.
///
///     notes who it is ─▶ starts the watchdog ─▶ reserves ─▶ waits ─▶ acquires ─▶ looks every few seconds ─▶ gives back
///
/// The coordinator of a lab is no safe lock: it forgets every acquisition when it is restarted, and frees none whose
/// holder died. So a thread asks it every few seconds whether the place is still ours, ``fault`` says when it is not, and
/// from then on nothing is driven; a watchdog, a process of its own, gives back what we hold when we die; and what even
/// that left behind, such as one that was killed with us, the next run on this machine gives back. What is driven at this
/// bench is guarded by a lock of the kernel beside all that.
public final class Reservation: Sendable {
  /// What to ask for.
  public struct Wish: Equatable, Sendable {
    /// The coordinator.
    public var address: LabAddress
    /// What the place must have.
    public var tags: [LabTag]
    /// How long to wait for it.
    public var wait: Interval

    /// Asks for a place.
    public init(_ address: LabAddress, tags: [LabTag], wait: Interval) {
      (self.address, self.tags, self.wait) = (address, tags, wait)
    }
  }

  /// How a reservation came to nothing.
  public enum Refusal: Error, Equatable, Sendable {
    /// The lab has no such place for us.
    case trouble(LabFault)
    /// We were stopped while we waited.
    case stopped
  }

  /// How often the coordinator is asked whether the place is still ours, and for how long it may not answer.
  private static let (period, silence) = (Interval.seconds(3), Interval.seconds(20))

  /// The place, as it was when it became ours.
  public let place: LabPlace
  /// The way to a controller that its exporter offers.
  public let transport: String?
  /// The coordinator.
  public var address: LabAddress { client.address }

  private let client: LabgridClient
  private let state: Mutex<State>

  private struct State {
    let watchdog: Watchdog
    var fault: LabFault?
    var isOver = false
  }

  /// Gets a place.
  ///
  /// - Parameters:
  ///   - say: tells a person what is waited for.
  ///   - isStopped: whether to stop waiting.
  public init(
    _ wish: Wish, say: (String) -> Void, isStopped: () -> Bool
  ) throws(Refusal) {
    let client = LabgridClient(wish.address, owner: .new())
    Watchdog.releaseRemains(at: wish.address, program: client.program, say: say)
    let watchdog: Watchdog
    do throws(LabFault) {
      watchdog = try Watchdog(client)
    } catch {
      throw .trouble(error)
    }
    self.client = client
    do throws(LabgridFault) {
      let (place, lines) = try Self.acquire(client, wish, say, isStopped)
      self.place = place
      transport = try Self.transport(lines)
      state = Mutex(State(watchdog: watchdog))
    } catch {
      if let words = watchdog.end() { say(words) }
      throw error == .stopped
        ? .stopped : .trouble(client.trouble(error, Self.absence(of: wish.tags, at: wish.address)))
    }
    inBackground { [weak self] in
      while true {
        // It is not kept alive by who watches over it.
        guard let isOver = self?.rest(), !isOver else { return }
        self?.look()
      }
    }
  }

  deinit { release { _ in } }

  /// Says which lock stands at the place, by its odometer: should the run die, it is brought to rest before the place is
  /// given back.
  public func tell(odometer path: String) { state.withLock { $0.watchdog.tell(odometer: path) } }
}

// MARK: - Acquiring

extension Reservation {
  /// The places of a lab that have all of some tags, whoever holds them.
  ///
  /// - Throws: that there is none, or why the lab cannot be asked.
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
    _ client: LabgridClient, _ wish: Wish, _ say: (String) -> Void, _ isStopped: () -> Bool
  ) throws(LabgridFault) -> (place: LabPlace, environment: [String]) {
    _ = try client.places(with: wish.tags)
    let name = try reserve(client, wish, say, isStopped)
    _ = try client.call(["--place", name, "acquire"], isStopped: isStopped)
    let place = try client.place(name)
    // Between the two somebody may have taken it away again.
    if let loss = place.loss(for: client.owner.description) { throw .refused(loss) }
    return (place, try client.call(["--place", name, "env"]))
  }

  /// Reserves a place, and waits for it; the client asks for it all the while, which keeps the reservation.
  private static func reserve(
    _ client: LabgridClient, _ wish: Wish, _ say: (String) -> Void, _ isStopped: () -> Bool
  ) throws(LabgridFault) -> String {
    let head = "export LG_TOKEN="
    let lines = try client.call(["reserve", "--shell"] + wish.tags.map(\.description))
    guard let token = lines.first(where: { $0.hasPrefix(head) })?.dropFirst(head.utf8.count), !token.isEmpty
    else {
      throw .refused("labgrid-client does not say which reservation it made")
    }
    // The first look says whether there is anything to wait for.
    let mine = LabReservation.read(try client.call(["reservations"])).first { $0.token == token }
    if mine?.state == "waiting" {
      let holders = (try client.places(acquired: true)).filter { $0.has(wish.tags) }
      let who = holders.prefix(4).map { "\($0.name) is held by \($0.holder ?? "nobody")" }
      say("lockstep: waiting for a place, \(wish.wait) at most" + who.map { "; " + $0 }.joined())
    }
    let shown: [String]
    do {
      shown = try client.call(["wait", String(token)], within: wish.wait, isStopped: isStopped)
    } catch .hung {
      throw .refused("none became free within \(wish.wait); --lab-wait waits longer")
    }
    let end = LabReservation.read(shown).last { $0.token == token }
    guard let end, let place = end.place, ["allocated", "acquired"].contains(end.state) else {
      throw .refused("the reservation \(token) is \(end?.state ?? "gone")")
    }
    return place
  }

  private static func transport(_ lines: [String]) throws(LabgridFault) -> String? {
    do {
      return try LabTransport.read(lines)
    } catch {
      throw .refused("what labgrid-client says of the resources is not understood: \(error)")
    }
  }
}

// MARK: - While it is ours

extension Reservation {
  /// Why the place is ours no longer; `nil` while it is.
  public var fault: LabFault? { state.withLock { $0.fault } }

  /// Whether somebody else holds the place now, where it was lost: then not even the return to rest is ours.
  public func isTaken() -> Bool {
    // It may have been free when it was lost. While nobody can ask the coordinator, nobody can have got it there.
    guard fault != nil, let now = try? client.place(place.name, within: .seconds(5)) else { return false }
    return now.holder.map { $0 != client.owner.description } ?? false
  }

  /// Waits until it is time to look again; says whether there is nothing more to look after.
  private func rest() -> Bool {
    let end = MonotonicClock.now + Self.period
    while MonotonicClock.now < end {
      if state.withLock({ $0.isOver || $0.fault != nil }) { return true }
      _ = poll(nil, 0, 50)
    }
    return false
  }

  /// Asks the coordinator whether the place is still ours. One that does not answer is asked again for a while: only it
  /// could give the place to somebody else.
  private func look() {
    let begin = MonotonicClock.now
    var words = ""
    repeat {
      do throws(LabgridFault) {
        let place = try client.place(place.name, within: .seconds(10))
        guard let loss = place.loss(for: client.owner.description) else { return }
        return lose(LabFault(.transportLost, loss))
      } catch {
        words = client.trouble(error, "the coordinator at \(address) cannot be asked").detail
        if case .refused(let text) = error,
          text.hasPrefix("there is no place") || text.hasSuffix("matches nothing")
        {
          return lose(LabFault(.transportLost, "the lab has no place \(place.name) any more"))
        }
      }
      _ = poll(nil, 0, 500)
    } while MonotonicClock.now - begin < Self.silence && !state.withLock { $0.isOver }
    lose(LabFault(.transportLost, words))
  }

  private func lose(_ fault: LabFault) {
    state.withLock { state in
      if !state.isOver { state.fault = fault }
    }
  }
}

// MARK: - Releasing

extension Reservation {
  /// Gives the place back; a second time does nothing. What cannot be given back now the watchdog gives back later.
  public func release(_ say: (String) -> Void) {
    // Whoever gives a place back has nothing more to drive, and the lab may take its time.
    Heartbeat.end()
    let words = state.withLock { state -> String? in
      guard !state.isOver else { return nil }
      state.isOver = true
      return state.watchdog.end()
    }
    if let words { say(words) }
  }
}
