public import Basics

/// What is scanned for, and how far the controller is with it (Core 5.4, Vol 4 Part E §7.8.10, §7.8.11).
///
///                  settingParameters ──▶ enabling ──▶ on
///       start ▲                                        │ stop, or start with other parameters
///            off ◀──────────── disabling ◀─────────────┘
///
/// Parameters can be set only while the controller does not scan. What is asked for while a command is under way is
/// kept, the latest alone, and carried out after it.
struct Scanner: Sendable {
  enum State: Sendable {
    case off
    case settingParameters(filterDuplicates: Bool)
    case enabling
    case on
    case disabling
  }

  /// What the user asked for and was not begun yet.
  enum Wish: Sendable {
    case start(ScanParameters, filterDuplicates: Bool)
    case stop
  }

  var state = State.off
  var wish: Wish?
}

extension BluetoothHost {
  /// Begins to scan, or goes on with other parameters; ``HostEvent/scanning(_:status:)`` follows.
  public mutating func startScanning(
    _ parameters: ScanParameters, filterDuplicates: Bool, at now: Instant
  ) -> [HostAction] {
    guard mayAct() else { return [] }
    scanner.wish = .start(parameters, filterDuplicates: filterDuplicates)
    pursueScanning(at: now)
    return takeActions()
  }

  /// Ends scanning; ``HostEvent/scanning(_:status:)`` follows, also when nothing was to be ended.
  public mutating func stopScanning(at now: Instant) -> [HostAction] {
    guard mayAct() else { return [] }
    scanner.wish = .stop
    pursueScanning(at: now)
    return takeActions()
  }

  /// Does what the user asked for, unless a command is under way.
  private mutating func pursueScanning(at now: Instant) {
    switch (scanner.state, scanner.wish) {
    case (_, nil), (.settingParameters, _), (.enabling, _), (.disabling, _):
      break
    case (.off, .start(let parameters, let filterDuplicates)):
      scanner = Scanner(state: .settingParameters(filterDuplicates: filterDuplicates), wish: nil)
      send(.leSetScanParameters(parameters), for: .scanner, at: now)
    case (.off, .stop):
      scanner.wish = nil
      report(.scanning(false, status: .success))
    case (.on, .start), (.on, .stop):
      scanner.state = .disabling
      send(.leSetScanEnable(false, false), for: .scanner, at: now)
    }
  }

  /// Takes in the answer to a command that concerns scanning.
  mutating func scanCommandAnswered(_ status: HCIErrorCode, at now: Instant) {
    switch (scanner.state, status) {
    case (.settingParameters, .success) where scanner.wish != nil:
      scanner.state = .off
    case (.settingParameters(let filterDuplicates), .success):
      scanner.state = .enabling
      send(.leSetScanEnable(true, filterDuplicates), for: .scanner, at: now)
    case (.enabling, .success):
      scanner.state = .on
      report(.scanning(true, status: .success))
    case (.settingParameters, _), (.enabling, _):
      scanner.state = .off
      report(.scanning(false, status: status))
    case (.disabling, _):
      // A controller refuses to end only what it does not do.
      scanner.state = .off
    case (.off, _), (.on, _):
      break
    }
    pursueScanning(at: now)
  }
}
