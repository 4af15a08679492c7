public import Bluetooth

/// The devices heard while scanning, each with its last advertisement, the matching scan response and a note by the
/// table's user.
///
/// The table ignores the scan response of a device that has not advertised before. When it is full, a new device
/// replaces the oldest entry.
public struct Advertisers<Note: Sendable>: Sendable {
  /// A device.
  public struct Device: Sendable {
    public let address: PeerAddress
    public fileprivate(set) var advertisement: [UInt8] = []
    /// The scan response; `nil` before one was heard.
    public var response: [UInt8]?
    public fileprivate(set) var rssi: Int8?
    /// Whether the last advertisement was connectable.
    public fileprivate(set) var isConnectable = false
    /// Whether the device was heard since ``Advertisers/forgetHeard()``.
    public fileprivate(set) var isHeard = false
    /// The note that the table's user keeps for the device.
    public var note: Note

    /// Advertisement and scan response, one after the other, as AD structures.
    public var data: [UInt8] { advertisement + (response ?? []) }
  }

  /// What a report changed in the table.
  public struct Change: Sendable {
    /// The device, as its index in ``Advertisers/devices``.
    public let index: Int
    public let isResponse: Bool
    /// Whether this is the device's first report, or differs from the previous one of its kind.
    public let isNew: Bool
  }

  /// The devices, in the order in which they were first heard.
  public private(set) var devices: [Device] = []
  private let capacity: Int
  private let note: Note
  private var oldest = 0

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - capacity: the maximum number of devices.
  ///   - note: the initial note of each device.
  public init(capacity: Int = 256, note: Note) {
    self.capacity = capacity
    self.note = note
  }

  /// The entry of a device.
  public subscript(index: Int) -> Device {
    get { devices[index] }
    _modify { yield &devices[index] }
  }

  /// Marks all devices as not heard, before listening starts again.
  public mutating func forgetHeard() { for index in devices.indices { devices[index].isHeard = false } }

  /// Receives a report.
  ///
  /// - Returns: the change, or `nil` for a scan response of an unknown device.
  public mutating func hear(_ report: AdvertisingReport) -> Change? {
    let isResponse = report.kind == .scanResponse
    let known = devices.firstIndex { $0.address == report.address }
    guard known != nil || !isResponse else { return nil }
    let index = known ?? add(report.address)
    devices[index].isHeard = true
    devices[index].rssi = report.rssi
    let isNew: Bool
    if isResponse {
      isNew = devices[index].response != report.data
      devices[index].response = report.data
    } else {
      isNew = known == nil || devices[index].advertisement != report.data
      devices[index].advertisement = report.data
      devices[index].isConnectable = report.kind.isConnectable
    }
    return Change(index: index, isResponse: isResponse, isNew: isNew)
  }

  private mutating func add(_ address: PeerAddress) -> Int {
    let device = Device(address: address, note: note)
    if devices.count < capacity {
      devices.append(device)
      return devices.count - 1
    }
    devices[oldest] = device
    defer { oldest = (oldest + 1) % capacity }
    return oldest
  }
}

/// The note of a table whose user keeps no notes.
public struct Nothing: Sendable {
  /// Creates the empty note.
  public init() {}
}

extension Advertisers where Note == Nothing {
  /// Creates an empty table without notes.
  public init(capacity: Int) { self.init(capacity: capacity, note: Nothing()) }
}

extension AdvertisingReport.Kind {
  /// Whether a device that advertises like this accepts connections.
  public var isConnectable: Bool {
    switch self {
    case .connectable, .directed: true
    case .scannable, .nonconnectable, .scanResponse: false
    // Core 5.4, Vol 4 Part E §7.7.65.13: bit 0 of the event type.
    case .extended(let bits): bits & 1 != 0
    }
  }
}
