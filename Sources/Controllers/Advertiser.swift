import Bluetooth
import Basics

/// The advertiser of one controller (Core 5.4, Vol 6 Part B §4.4.2).
///
/// An advertising event is one packet on each channel in use; the next event begins an interval and a random delay
/// later. Events are simulated only while a scanner or initiator listens, and of those only the packets that it can
/// receive.
struct Advertiser: Sendable {
  enum Phase: Sendable {
    /// Not advertising, or no controller listens.
    case quiet
    /// Waiting for the end of the next packet that is received.
    case packet
    /// A scan response is on the air, for those in ``Advertiser/scanRequesters``.
    case response
    /// An initiator's CONNECT_IND is on the air.
    case request(initiator: Int)
  }

  let controller: Int
  var schedule: AdvertisingSchedule
  private(set) var isOn = false
  private(set) var parameters = AdvertisingParameters(
    minimumInterval: 0x0800, maximumInterval: 0x0800, ownAddressType: 0)
  var data: [UInt8] = [] {
    didSet { handleDataChange() }
  }
  var response: [UInt8] = [] {
    didSet { handleDataChange() }
  }
  private(set) var address = PeerAddress(.publicDevice, BluetoothAddress(0))
  /// A number for the address, the same for all devices that use it.
  private(set) var identity = 0

  var phase = Phase.quiet
  /// The listeners whose SCAN_REQ was heard, by ``Listener/number``.
  var scanRequesters: [Int] = []
  /// The packet at whose end the advertiser is woken; `nil` if none will be received soon.
  var awaited: AdvertisingSchedule.Packet?
  /// The number of the listener that last received all current advertising data.
  private(set) var fullyReportedTo: Int?
  /// Scanners receive no full repetition before this time.
  var searched = Int64.min
  /// When advertising at the high duty cycle ends.
  private(set) var end = Int64.max

  init(controller: Int, schedule: AdvertisingSchedule) {
    self.controller = controller
    self.schedule = schedule
  }

  /// Whether the packets are connectable, undirected or directed.
  var isConnectable: Bool {
    switch parameters.kind {
    case .connectable, .directedHighDuty, .directedLowDuty: true
    case .scannable, .nonconnectable: false
    }
  }

  var isScannable: Bool {
    switch parameters.kind {
    case .connectable, .scannable: true
    case .directedHighDuty, .directedLowDuty, .nonconnectable: false
    }
  }

  /// The target of directed advertising.
  var directedAt: PeerAddress? {
    switch parameters.kind {
    case .directedHighDuty, .directedLowDuty: parameters.peer
    case .connectable, .scannable, .nonconnectable: nil
    }
  }

  /// The kind of the packets in an advertising report.
  var reportedKind: AdvertisingReport.Kind {
    switch parameters.kind {
    case .connectable: .connectable
    case .directedHighDuty, .directedLowDuty: .directed
    case .scannable: .scannable
    case .nonconnectable: .nonconnectable
    }
  }

  /// The time from the end of a packet to the end of the requested scan response.
  var responseTime: Int64 { 2 * AirTime.pause + AirTime.scanRequest + AirTime.packet(6 + response.count) }

  mutating func set(_ parameters: AdvertisingParameters) {
    self.parameters = parameters
  }

  /// Records that a listener has received all advertising data.
  mutating func markFullyReported(to listener: Int) {
    fullyReportedTo = listener
    searched = .min
  }

  /// Handles a change of the advertised data.
  private mutating func handleDataChange() {
    fullyReportedTo = nil
    schedule.duration = AirTime.packet(directedAt == nil ? 6 + data.count : 12)
  }

  mutating func start(as address: PeerAddress, identity: Int, at now: Int64) {
    self.address = address
    self.identity = identity
    isOn = true
    phase = .quiet
    let isHighDuty = parameters.kind == .directedHighDuty
    end = isHighDuty ? now + AirTime.highDutyDuration : .max
    handleDataChange()
    schedule.start(parameters, at: now)
  }

  mutating func stop() {
    isOn = false
    phase = .quiet
    end = .max
  }

  /// Resets everything but the random generator.
  mutating func reset() {
    schedule.reset()
    self = Advertiser(controller: controller, schedule: schedule)
  }
}
