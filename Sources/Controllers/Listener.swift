import Bluetooth

/// When a controller listens on which of the advertising channels.
struct ListeningWindows: Sendable {
  let start: Int64
  let interval: Int64
  let window: Int64

  /// Whether it listens on a channel, 0 to 2, for the whole of a time.
  func hears(_ channel: Int, from begin: Int64, to end: Int64) -> Bool {
    guard begin >= start else { return false }
    let elapsed = begin - start
    let number = elapsed / interval
    return elapsed - number * interval + (end - begin) <= window && Int(number % 3) == channel
  }
}

/// A controller that listens on the advertising channels, to report what it hears or to connect
/// (Core 5.4, Vol 6 Part B §4.4.3, §4.4.4).
///
/// It listens for a window out of each interval, on one channel after the other. A packet is heard if it lies
/// in one window.
struct Listener: Sendable {
  let controller: Int
  /// Which of all that ever listened it is.
  var number = 0
  /// Whether it wants a connection; a scanner otherwise.
  let isInitiator: Bool
  /// What the others know it by.
  let address: PeerAddress
  /// Whether it asks for scan responses.
  let isActive: Bool
  /// Whether the filter accept list says who counts.
  let usesAcceptList: Bool
  /// Whom an initiator wants, unless the list says that.
  let wanted: PeerAddress?
  let windows: ListeningWindows
  /// What was reported of each identity: bit 0 an advertisement, bit 1 a scan response; `nil` when everything
  /// is.
  private var reported: [UInt8]?
  /// Whether it repeatedly reports the same advertisement, of every advertiser.
  var hearsRepetitions: Bool { !isInitiator && !usesAcceptList && reported == nil }

  /// Starts to scan.
  init(
    scanning parameters: ScanParameters, _ controller: Int, as address: PeerAddress, filterDuplicates: Bool,
    at now: Int64
  ) {
    self.controller = controller
    self.address = address
    isInitiator = false
    isActive = parameters.isActive
    usesAcceptList = parameters.filterPolicy & 1 == 1
    wanted = nil
    windows = ListeningWindows(
      start: now, interval: Int64(parameters.interval) * AirTime.slot,
      window: Int64(parameters.window) * AirTime.slot)
    reported = filterDuplicates ? [] : nil
  }

  /// Starts listening as an initiator.
  init(initiating request: ConnectionRequest, _ controller: Int, as address: PeerAddress, at now: Int64) {
    self.controller = controller
    self.address = address
    isInitiator = true
    isActive = false
    usesAcceptList = request.usesFilterAcceptList
    wanted = request.usesFilterAcceptList ? nil : request.peer
    windows = ListeningWindows(
      start: now, interval: Int64(request.scanInterval) * AirTime.slot,
      window: Int64(request.scanWindow) * AirTime.slot)
  }

  /// Whether something of an identity was reported before, or everything is reported.
  mutating func isDuplicate(_ identity: Int, isResponse: Bool) -> Bool {
    guard let known = reported else { return false }
    let bit: UInt8 = isResponse ? 2 : 1
    if identity < known.count {
      if known[identity] & bit != 0 { return true }
    }
    remember(bit, of: identity)
    return false
  }

  /// Whether it still needs the scan response of an identity.
  func wantsResponse(_ identity: Int) -> Bool {
    guard let reported, identity < reported.count else { return true }
    return reported[identity] & 2 == 0
  }

  private mutating func remember(_ bit: UInt8, of identity: Int) {
    let missing = identity + 1 - (reported?.count ?? 0)
    if missing > 0 { reported?.append(contentsOf: repeatElement(0, count: missing)) }
    reported?[identity] |= bit
  }
}
