import Bluetooth
public import Basics
public import Links

/// A session with the GATT server of a device: the device to find, the operations in order, and the results.
///
///                heard            scan has ended        leases held
///     searching ───────▶ found ──────────────▶ claiming ─────────▶ connecting
///         │                                                            │ link up, everything found
///         │ not heard in time                                          ▼
///         │                                                      idle, or working
///         ▼                      nothing is left, or refused           │
///     stopping ◀─── listening ◀────────────────────────────────────────┘
///         │               subscribed values arrive for a while
///         ▼
///       over
///
/// - All operations known at the beginning are checked before the first one starts: if one names something that the
///   device lacks, none is performed.
/// - The first refusal ends the session, since later operations may rely on the refused one. An interactive session
///   reports it and continues.
/// - A lost link ends the session.
///
/// The type does no I/O and reads no clock: feed it the events of a ``Links/CentralSession`` with their times, then
/// carry out the actions it returns, in order. Call ``advance(to:)`` at ``deadline``.
public struct GATTExplorer: Sendable {
  /// What the caller must do next.
  public enum Action: Equatable, Sendable {
    /// Pass this operation to the central.
    case perform(CentralOperation)
    /// Acquire the leases of these identities, then call ``claimed(at:)`` or ``leave(_:at:)``.
    case claim([String])
    case show(GATTFinding)
    /// The session is over.
    case finish(GATTEnding)
  }

  /// The contents of a session.
  public struct Script: Sendable {
    /// The device to find.
    public var target: DeviceTarget
    /// The first operations.
    public var operations: [GATTOperation]
    /// Whether more operations follow, until ``GATTExplorer/endOperations(at:)``, and errors do not end the session.
    public var isInteractive: Bool
    /// The maximum time to find and connect to the device.
    public var timeout: Interval
    /// How long the session listens to subscribed values after the last operation.
    public var duration: Interval

    /// Creates a script.
    public init(
      to target: DeviceTarget, _ operations: [GATTOperation] = [], isInteractive: Bool = false,
      timeout: Interval = .seconds(10), duration: Interval = .seconds(10)
    ) {
      self.target = target
      self.operations = operations
      self.isInteractive = isInteractive
      self.timeout = timeout
      self.duration = duration
    }
  }

  private enum State: Sendable {
    /// The session has not started.
    case starting
    case searching(DeviceSearch)
    case found(DeviceSearch.Found)
    case claiming(PeerAddress)
    /// Connecting, with whether the link is up, and whether the connection was shown.
    case connecting(PeerAddress, isUp: Bool, isShown: Bool)
    case working(Work)
    case idle
    case listening(until: Instant)
    case stopping(GATTEnding, until: Instant)
    case over
  }

  /// An operation in progress.
  fileprivate enum Work: Sendable {
    /// The first of the remaining attributes is being read.
    case listing(ArraySlice<DiscoveredAttribute>)
    case reading(DiscoveredAttribute)
    case writing(DiscoveredAttribute, count: Int, hasResponse: Bool)
    case subscribing(DiscoveredAttribute, Subscription)
  }

  private let script: Script
  private var state = State.starting
  private var operations: FIFO<GATTOperation>
  private var expectsMoreOperations: Bool
  /// The time limit for finding the device.
  private var limit = Instant.never
  /// The time at which the link came up.
  private var zero = Instant.zero
  private var mtu = Int(GATTLink.minimumMTU)
  private var profile = DiscoveredProfile()
  /// The handles of the subscribed values.
  private var subscribed: [AttributeHandle] = []

  /// The minimum timeout of a connection attempt after the search.
  private static let minimumConnectTimeout = Interval.seconds(2)
  /// The maximum time to wait for the end of the scan or of the link.
  private static let stoppingTime = Interval.seconds(10)

  /// Creates a session, before the controller is set up.
  public init(_ script: Script) {
    self.script = script
    operations = FIFO()
    for operation in script.operations { operations.append(operation) }
    expectsMoreOperations = script.isInteractive
  }

  /// Whether no operation is in progress and a new one would start at once.
  public var isIdle: Bool { if case .idle = state { true } else { false } }

  /// When ``advance(to:)`` must next be called, or `nil` if no time limit applies.
  public var deadline: Instant? {
    let due: Instant =
      switch state {
      case .searching(let search): min(limit, search.deadline)
      case .listening(let until), .stopping(_, let until): until
      case .starting, .found, .claiming, .connecting, .working, .idle, .over: .never
      }
    return due == .never ? nil : due
  }
}

// MARK: - Events

extension GATTExplorer {
  /// Starts to search for the device.
  public mutating func begin() -> [Action] {
    guard case .starting = state else { return [] }
    state = .searching(DeviceSearch(for: script.target))
    return [.perform(.scan(true))]
  }

  /// Receives an event of the central.
  public mutating func receive(_ event: CentralEvent, at now: Instant) -> [Action] {
    switch event {
    case .scanning(let isOn, _): return scanning(isOn, at: now)
    case .advertisement(let report):
      guard case .searching(var search) = state else { return [] }
      let found = search.hear(report, at: now)
      state = .searching(search)
      return found.map { stopScanning($0) } ?? []
    case .connected:
      guard case .connecting(let address, _, let isShown) = state else { return [] }
      zero = now
      state = .connecting(address, isUp: true, isShown: isShown)
      return []
    case .mtu(let agreed):
      mtu = agreed
      return showConnection()
    case .open(let found, let gaps): return opened(found, gaps, at: now)
    case .notDiscovered(let procedure, let failure):
      return refuse(procedure == .exchangeMTU ? .agreeing : .discovering, failure, at: now)
    case .notified(let handle, let value):
      return [.show(.notification(now - zero, profile.attribute(at: handle), value))]
    case .read(_, let value): return worked(.success(.value(value)), at: now)
    case .wrote, .subscribed: return worked(.success(.written), at: now)
    case .failed(_, .gatt(let failure)): return worked(.failure(failure), at: now)
    case .failed(_, .impossible(let sentence)): return worked(.failure(.badAnswer(sentence)), at: now)
    case .disconnected(let reason, _): return disconnected(reason, at: now)
    case .peerViolation(let rule): return [.show(.remark("the device broke a rule of its protocol: \(rule)"))]
    case .ready, .lastPacketsUncertain, .controllerAnomaly: return []
    }
  }

  /// Receives that the leases were acquired.
  public mutating func claimed(at now: Instant) -> [Action] {
    guard case .claiming(let address) = state else { return [] }
    state = .connecting(address, isUp: false, isShown: false)
    let time = max(limit - now, Self.minimumConnectTimeout)
    return [.perform(.connect(address, ProfileQuery(exchangesMTU: true), within: time))]
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [Action] {
    switch state {
    case .searching(var search) where search.deadline <= now:
      let found = search.takeWithoutResponse()
      state = .searching(search)
      return found.map { stopScanning($0) } ?? []
    case .searching(let search) where limit <= now:
      return leave(.fault(search.failure(after: script.timeout)), at: now)
    case .listening(let until) where until <= now:
      return leave(.done, at: now)
    case .stopping(let ending, let until) where until <= now:
      return finish(ending)
    case .starting, .searching, .found, .claiming, .connecting, .working, .idle, .listening, .stopping, .over:
      return []
    }
  }
}

// MARK: - Requests of the user

extension GATTExplorer {
  /// Performs an operation after all earlier ones.
  public mutating func perform(_ operation: GATTOperation, at now: Instant) -> [Action] {
    operations.append(operation)
    return isIdle ? next(at: now) : []
  }

  /// Receives that no more operations follow.
  public mutating func endOperations(at now: Instant) -> [Action] {
    expectsMoreOperations = false
    return isIdle ? next(at: now) : []
  }

  /// Receives a stop request. A session that listens, or waits for the next operation, counts as complete.
  public mutating func interrupt(at now: Instant) -> [Action] {
    switch state {
    case .idle, .listening: leave(.done, at: now)
    case .starting, .searching, .found, .claiming, .connecting, .working, .stopping, .over:
      leave(.interrupted, at: now)
    }
  }

  /// Ends the session in any state.
  public mutating func leave(_ ending: GATTEnding, at now: Instant) -> [Action] {
    let last = state
    state = .stopping(ending, until: now + Self.stoppingTime)
    switch last {
    case .starting, .claiming: return finish(ending)
    case .searching: return [.perform(.scan(false))]
    case .found: return []
    case .connecting, .working, .idle, .listening: return [.perform(.disconnect)]
    case .stopping, .over:
      state = last
      return []
    }
  }

  private mutating func finish(_ ending: GATTEnding) -> [Action] {
    if case .over = state { return [] }
    state = .over
    return [.finish(ending)]
  }
}

// MARK: - Finding and connecting

extension GATTExplorer {
  private mutating func stopScanning(_ found: DeviceSearch.Found) -> [Action] {
    state = .found(found)
    return [.perform(.scan(false))]
  }

  private mutating func scanning(_ isOn: Bool, at now: Instant) -> [Action] {
    switch (state, isOn) {
    case (.searching, true):
      limit = now + script.timeout
      return []
    case (.found(let found), false):
      state = .claiming(found.address)
      return [.claim(found.identities)]
    case (.stopping(let ending, _), false):
      return finish(ending)
    case (.starting, _), (.searching, _), (.found, _), (.claiming, _), (.connecting, _), (.working, _),
      (.idle, _),
      (.listening, _), (.stopping, _), (.over, _):
      return []
    }
  }

  /// Shows the connection once the MTU is agreed on, or cannot be.
  private mutating func showConnection() -> [Action] {
    guard case .connecting(let address, true, isShown: false) = state else { return [] }
    state = .connecting(address, isUp: true, isShown: true)
    return [.show(.connected(address, mtu: mtu))]
  }

  private mutating func opened(_ found: DiscoveredProfile, _ gaps: [String], at now: Instant) -> [Action] {
    guard case .connecting = state else { return [] }
    let remarks = showConnection() + gaps.map { Action.show(.remark("not shown are \($0)")) }
    profile = found
    if !script.isInteractive {
      // No operation starts if a later one is impossible.
      do throws(GATTMistake) {
        for operation in operations { try check(operation) }
      } catch {
        return remarks + leave(.mistake("\(error)"), at: now)
      }
    }
    return remarks + next(at: now)
  }

  private mutating func disconnected(_ reason: HCIErrorCode, at now: Instant) -> [Action] {
    switch state {
    case .connecting(let address, isUp: false, _):
      return finish(
        .fault(
          "no link to \(address): \(reason); it was heard, so it may have another client now, or be too far away"
        ))
    case .connecting, .working, .idle, .listening:
      let cause =
        reason == .remoteUserTerminated
        ? "the device ended it: some do to clients that do not pair, or do not log in in time"
        : "is it still in range, and has it power?"
      return finish(.fault("the link was lost after \((now - zero).wholeMilliseconds), \(reason); \(cause)"))
    case .stopping(let ending, _):
      return finish(ending)
    case .starting, .searching, .found, .claiming, .over:
      return []
    }
  }
}

extension Interval {
  /// The interval, truncated to milliseconds.
  var wholeMilliseconds: Interval { .milliseconds(nanoseconds / 1_000_000) }
}

// MARK: - Operations

extension GATTExplorer {
  private func check(_ operation: GATTOperation) throws(GATTMistake) {
    switch operation {
    case .services, .mtu: break
    case .read(let name): _ = try profile.attribute(name)
    case .write(let write, let isCommand): _ = try target(of: write, isCommand: isCommand)
    case .subscribe(let name), .unsubscribe(let name): _ = try profile.characteristic(name)
    }
  }

  /// Starts the next operation.
  private mutating func next(at now: Instant) -> [Action] {
    guard let operation = operations.popFirst() else {
      if expectsMoreOperations {
        state = .idle
        return []
      }
      if subscribed.isEmpty { return leaveLinked(.done, at: now) }
      state = .listening(until: now + script.duration)
      return [.show(.listening(script.duration))]
    }
    do throws(GATTMistake) {
      return try begin(operation, at: now)
    } catch {
      guard script.isInteractive else { return leaveLinked(.mistake("\(error)"), at: now) }
      return [.show(.mistake("\(error)"))] + next(at: now)
    }
  }

  /// Ends the session between two operations.
  private mutating func leaveLinked(_ ending: GATTEnding, at now: Instant) -> [Action] {
    state = .idle
    return leave(ending, at: now)
  }

  private mutating func begin(_ operation: GATTOperation, at now: Instant) throws(GATTMistake) -> [Action] {
    switch operation {
    case .services(let withValues):
      return list(profile.attributes[...], withValues: withValues, at: now)
    case .mtu:
      return [.show(.mtu(mtu))] + next(at: now)
    case .read(let name):
      let attribute = try profile.attribute(name)
      state = .working(.reading(attribute))
      return [.perform(.read(.handle(attribute.handle)))]
    case .write(let write, let isCommand):
      let (attribute, hasResponse) = try target(of: write, isCommand: isCommand)
      let count = write.value.count
      state = .working(.writing(attribute, count: count, hasResponse: hasResponse))
      return (hasResponse ? [] : warnings(of: attribute))
        + [.perform(.write(.handle(attribute.handle), write.value, withResponse: hasResponse))]
    case .subscribe(let name):
      let attribute = try profile.characteristic(name)
      state = .working(.subscribing(attribute, attribute.subscription))
      return [.perform(.subscribe(.handle(attribute.handle)))]
    case .unsubscribe(let name):
      let attribute = try profile.characteristic(name)
      state = .working(.subscribing(attribute, []))
      return [.perform(.unsubscribe(.handle(attribute.handle)))]
    }
  }

  /// Returns the attribute to write, and whether the write has a response.
  private func target(
    of write: AttributeWrite, isCommand: Bool
  ) throws(GATTMistake) -> (DiscoveredAttribute, hasResponse: Bool) {
    let attribute = try profile.attribute(write.name)
    let offers = attribute.properties
    // An attribute with neither property may still accept a request; otherwise its answer is an error.
    let isSilent = offers.map { !$0.contains(.write) && $0.contains(.writeWithoutResponse) } ?? false
    guard isCommand || isSilent else { return (attribute, true) }
    let room = mtu - 3
    guard write.value.count <= room else {
      throw GATTMistake(
        "a write without response carries \(room) bytes at most with an MTU of \(mtu), and the value has "
          + "\(write.value.count)" + (isSilent ? "" : ": write it with response"))
    }
    return (attribute, false)
  }

  private func warnings(of attribute: DiscoveredAttribute) -> [Action] {
    guard attribute.properties?.contains(.writeWithoutResponse) != true else { return [] }
    let offer = attribute.properties.map { "\(attribute) offers \($0), and no" } ?? "\(attribute) offers no"
    return [.show(.remark("\(offer) write without response: the device may ignore it without an error"))]
  }

  /// Shows the remaining attributes, up to the first whose value must be read.
  private mutating func list(
    _ attributes: ArraySlice<DiscoveredAttribute>, withValues: Bool, at now: Instant
  ) -> [Action] {
    var actions: [Action] = []
    var rest = attributes
    while let attribute = rest.first {
      if withValues, attribute.isReadable {
        state = .working(.listing(rest))
        return actions + [.perform(.read(.handle(attribute.handle)))]
      }
      actions.append(.show(.attribute(attribute, value: nil)))
      rest.removeFirst()
    }
    return actions + next(at: now)
  }

  /// Handles the result of an operation.
  private mutating func worked(_ result: Result<GATTResult, GATTFailure>, at now: Instant) -> [Action] {
    guard case .working(let work) = state else { return [] }
    switch (work, result) {
    case (.listing(let rest), .success(.value(let value))):
      return shown(rest, .success(value), at: now)
    case (.listing(let rest), .failure(let failure)) where failure != .timedOut:
      return shown(rest, .failure(failure), at: now)
    case (.reading(let attribute), .success(.value(let value))):
      return [.show(.value(attribute, value))] + next(at: now)
    case (.writing(let attribute, let count, let hasResponse), .success(.written)):
      return [.show(.written(attribute, count: count, isAcknowledged: hasResponse))] + next(at: now)
    case (.subscribing(let attribute, let subscription), .success(.written)):
      subscribed.removeAll { $0 == attribute.handle }
      if subscription != [] { subscribed.append(attribute.handle) }
      return [.show(.subscription(attribute, subscription))] + next(at: now)
    case (_, .failure(let failure)):
      return refuse(work.attempt, failure, at: now)
    case (_, .success):
      preconditionFailure("a procedure gave what another one does")
    }
  }

  private mutating func shown(
    _ rest: ArraySlice<DiscoveredAttribute>, _ value: Result<[UInt8], GATTFailure>, at now: Instant
  ) -> [Action] {
    let first = rest.first.map { [Action.show(.attribute($0, value: value))] } ?? []
    return first + list(rest.dropFirst(), withValues: true, at: now)
  }

  /// Handles a refusal: an interactive session continues, unless no further operation is possible.
  private mutating func refuse(
    _ attempt: GATTFinding.Attempt, _ failure: GATTFailure, at now: Instant
  ) -> [Action] {
    let said = [Action.show(.refused(attempt, failure))]
    guard case .working = state, script.isInteractive, failure != .timedOut else {
      return said + leave(.refused, at: now)
    }
    return said + next(at: now)
  }
}

extension GATTExplorer.Work {
  /// The attempted procedure.
  fileprivate var attempt: GATTFinding.Attempt {
    switch self {
    case .listing(let rest): rest.first.map { .reading($0) } ?? .discovering
    case .reading(let attribute): .reading(attribute)
    case .writing(let attribute, _, _): .writing(attribute)
    case .subscribing(let attribute, let subscription):
      subscription == [] ? .unsubscribing(attribute) : .subscribing(attribute)
    }
  }
}

extension DiscoveredAttribute {
  /// Whether to read its value: descriptors do not state whether they are readable.
  fileprivate var isReadable: Bool {
    switch self {
    case .service, .unknown: false
    case .characteristic(let it, _): it.properties.contains(.read)
    case .descriptor: true
    }
  }
}
