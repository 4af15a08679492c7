public import Bluetooth

/// The devices that were heard while scanning: of each its last advertisement, the scan response that goes with it, and what
/// the user of the table notes of it.
///
/// A scan response of a device that was not heard before means nothing, and is left out. Where there are too many devices,
/// the one that was heard first makes room.
public struct Advertisers<Note: Sendable>: Sendable {
  /// A device.
  public struct Device: Sendable {
    public let address: PeerAddress
    public fileprivate(set) var advertisement: [UInt8] = []
    /// The scan response; `nil` before one was heard.
    public var response: [UInt8]?
    public fileprivate(set) var rssi: Int8?
    /// Whether its last advertisement can be connected to.
    public fileprivate(set) var isConnectable = false
    /// Whether it was heard since ``Advertisers/forgetHeard()``.
    public fileprivate(set) var isHeard = false
    /// What the user of the table notes of it.
    public var note: Note

    /// Advertisement and scan response, one after the other, as AD structures.
    public var data: [UInt8] { advertisement + (response ?? []) }
  }

  /// What a report was.
  public struct Change: Sendable {
    /// The device, as its index in ``Advertisers/devices``.
    public let index: Int
    public let isResponse: Bool
    /// Whether it is the first of its device, or says something else than the one before.
    public let isNew: Bool
  }

  /// The devices, in the order in which they were heard first.
  public private(set) var devices: [Device] = []
  private let capacity: Int
  private let note: Note
  private var oldest = 0

  /// Makes an empty table.
  ///
  /// - Parameters:
  ///   - capacity: how many devices are told apart.
  ///   - note: what is noted of each at first.
  public init(capacity: Int = 256, note: Note) {
    self.capacity = capacity
    self.note = note
  }

  /// What is known of a device.
  public subscript(index: Int) -> Device {
    get { devices[index] }
    _modify { yield &devices[index] }
  }

  /// Marks all devices as not heard, when listening begins again.
  public mutating func forgetHeard() { for index in devices.indices { devices[index].isHeard = false } }

  /// Receives a report; `nil` for one that means nothing.
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

/// What is noted of a device by a user of the table who notes nothing.
public struct Nothing: Sendable {
  /// Makes it.
  public init() {}
}

extension Advertisers where Note == Nothing {
  /// Makes an empty table without notes.
  public init(capacity: Int) { self.init(capacity: capacity, note: Nothing()) }
}

extension AdvertisingReport.Kind {
  /// Whether a device that advertises so can be connected to.
  public var isConnectable: Bool {
    switch self {
    case .connectable, .directed: true
    case .scannable, .nonconnectable, .scanResponse: false
    // Core 5.4, Vol 4 Part E §7.7.65.13: bit 0 of the event type.
    case .extended(let bits): bits & 1 != 0
    }
  }
}
