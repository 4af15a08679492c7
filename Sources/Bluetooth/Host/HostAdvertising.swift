public import Basics

/// What is advertised, and how far the controller is with it (Core 5.4, Vol 4 Part E §7.8.5 to §7.8.9).
///
///                  parameters ──▶ data ──▶ scanResponse ──▶ enabling ──▶ on
///       start ▲                                                          │ stop, or start with something else
///            off ◀──────────────────── disabling ◀───────────────────────┤
///             ▲                                                          │
///             └──────────────────────────────────────────────────────────┘ a central connected, or time is up
///
/// Parameters can be set only while the controller does not advertise. What is asked for while a command is under
/// way is kept, the latest alone, and carried out after it.
struct HostAdvertiser: Sendable {
  enum State: Sendable {
    case off
    case settingParameters(Advertisement)
    case settingData(Advertisement)
    case settingScanResponse(Advertisement)
    case enabling(Advertisement)
    /// A central connected before the controller had said that it advertises.
    case overtaken
    case on(Advertisement)
    case disabling
  }

  struct Advertisement: Sendable {
    var parameters: AdvertisingParameters
    var data: [UInt8]
    var scanResponse: [UInt8]

    /// Whether a connection ends it.
    var isConnectable: Bool {
      switch parameters.kind {
      case .connectable, .directedHighDuty, .directedLowDuty: true
      case .scannable, .nonconnectable: false
      }
    }
  }

  /// What the user asked for and was not begun yet.
  enum Wish: Sendable {
    case start(Advertisement)
    case stop
  }

  var state = State.off
  var wish: Wish?
}

extension BluetoothHost {
  /// Begins to advertise, or replaces what is advertised; ``HostEvent/advertising(_:status:)`` follows.
  ///
  /// Advertising ends by itself when a central connects, which is reported likewise, behind the connection.
  ///
  /// - Parameters:
  ///   - data: AD structures, at most 31 bytes.
  ///   - scanResponse: AD structures for who asks, at most 31 bytes.
  public mutating func startAdvertising(
    _ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8], at now: Instant
  ) -> [HostAction] {
    precondition(data.count <= 31 && scanResponse.count <= 31, "an advertisement holds 31 bytes")
    guard mayAct() else { return [] }
    advertiser.wish = .start(
      HostAdvertiser.Advertisement(parameters: parameters, data: data, scanResponse: scanResponse))
    pursueAdvertising(at: now)
    return takeActions()
  }

  /// Ends advertising; ``HostEvent/advertising(_:status:)`` follows, also when nothing was to be ended.
  public mutating func stopAdvertising(at now: Instant) -> [HostAction] {
    guard mayAct() else { return [] }
    advertiser.wish = .stop
    pursueAdvertising(at: now)
    return takeActions()
  }

  /// Does what the user asked for, unless a command is under way.
  private mutating func pursueAdvertising(at now: Instant) {
    switch (advertiser.state, advertiser.wish) {
    case (_, nil), (.settingParameters, _), (.settingData, _), (.settingScanResponse, _), (.enabling, _),
      (.overtaken, _), (.disabling, _):
      break
    case (.off, .start(let advertisement)):
      advertiser = HostAdvertiser(state: .settingParameters(advertisement), wish: nil)
      send(.leSetAdvertisingParameters(advertisement.parameters), for: .advertiser, at: now)
    case (.off, .stop):
      advertiser.wish = nil
      report(.advertising(false, status: .success))
    case (.on, .start), (.on, .stop):
      advertiser.state = .disabling
      send(.leSetAdvertisingEnable(false), for: .advertiser, at: now)
    }
  }

  /// Takes in the answer to a command that concerns advertising.
  mutating func advertisingCommandAnswered(_ status: HCIErrorCode, at now: Instant) {
    switch (advertiser.state, status) {
    case (.settingParameters, .success) where advertiser.wish != nil,
      (.settingData, .success) where advertiser.wish != nil,
      (.settingScanResponse, .success) where advertiser.wish != nil:
      advertiser.state = .off
    case (.settingParameters(let advertisement), .success):
      advertiser.state = .settingData(advertisement)
      send(.leSetAdvertisingData(advertisement.data), for: .advertiser, at: now)
    case (.settingData(let advertisement), .success):
      advertiser.state = .settingScanResponse(advertisement)
      send(.leSetScanResponseData(advertisement.scanResponse), for: .advertiser, at: now)
    case (.settingScanResponse(let advertisement), .success):
      advertiser.state = .enabling(advertisement)
      send(.leSetAdvertisingEnable(true), for: .advertiser, at: now)
    case (.enabling(let advertisement), .success):
      advertiser.state = .on(advertisement)
      report(.advertising(true, status: .success))
    case (.settingParameters, _), (.settingData, _), (.settingScanResponse, _), (.enabling, _):
      advertiser.state = .off
      report(.advertising(false, status: status))
    case (.overtaken, _), (.disabling, _):
      // A controller that refuses to end it has ended it already: a central connected just before.
      advertiser.state = .off
    case (.off, _), (.on, _):
      break
    }
    pursueAdvertising(at: now)
  }

  /// Advertising has ended by itself: a central connected, or a directed advertisement found nobody in time.
  mutating func advertisingEnded(_ status: HCIErrorCode, at now: Instant) {
    switch advertiser.state {
    case .on(let advertisement) where advertisement.isConnectable:
      advertiser.state = .off
      report(.advertising(false, status: status))
      pursueAdvertising(at: now)
    case .enabling(let advertisement) where advertisement.isConnectable:
      advertiser.state = .overtaken
      report(.advertising(false, status: status))
    case .on, .enabling, .off, .settingParameters, .settingData, .settingScanResponse, .overtaken, .disabling:
      // When disabling, that is carried out all the same.
      break
    }
  }
}
