import Bluetooth

/// The times at which a controller listens on each advertising channel.
struct ListeningWindows: Sendable {
  let start: Int64
  let interval: Int64
  let window: Int64

  /// Returns whether the controller listens on a channel, 0 to 2, during the whole of a period.
  func hears(_ channel: Int, from begin: Int64, to end: Int64) -> Bool {
    guard begin >= start else { return false }
    let elapsed = begin - start
    let number = elapsed / interval
    return elapsed - number * interval + (end - begin) <= window && Int(number % 3) == channel
  }
}

/// A controller that listens on the advertising channels, as a scanner or as an initiator (Core 5.4, Vol 6 Part B
/// §4.4.3, §4.4.4).
///
/// It listens for one scan window in each scan interval and uses the channels in turn. It receives a packet that
/// lies entirely within one window.
struct Listener: Sendable {
  let controller: Int
  /// A unique number among all listeners so far.
  var number = 0
  /// Whether this is an initiator; otherwise it is a scanner.
  let isInitiator: Bool
  /// The address that it uses on the air.
  let address: PeerAddress
  /// Whether it requests scan responses.
  let isActive: Bool
  /// Whether it only accepts the devices in the filter accept list.
  let usesAcceptList: Bool
  /// The peer that an initiator connects to, unless it uses the filter accept list.
  let wanted: PeerAddress?
  let windows: ListeningWindows
  /// The reports so far for each identity: bit 0 for an advertisement, bit 1 for a scan response; `nil` if
  /// duplicates are not filtered.
  private var reported: [UInt8]?
  /// Whether it reports repeated advertisements, of every advertiser.
  var hearsRepetitions: Bool { !isInitiator && !usesAcceptList && reported == nil }

  /// Starts listening as a scanner.
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

  /// Returns whether to filter out a report because an equal one of this identity was sent; records it otherwise.
  mutating func isDuplicate(_ identity: Int, isResponse: Bool) -> Bool {
    guard let known = reported else { return false }
    let bit: UInt8 = isResponse ? 2 : 1
    if identity < known.count {
      if known[identity] & bit != 0 { return true }
    }
    remember(bit, of: identity)
    return false
  }

  /// Returns whether it still needs the scan response of an identity.
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
