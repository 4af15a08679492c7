public import Basics

/// The parameters of scanning (Core 5.4, Vol 4 Part E §7.8.10, §7.8.11).
struct HostScan: HostActivitySettings {
  var parameters: ScanParameters
  var filterDuplicates: Bool

  var commands: [HCICommand] { [.leSetScanParameters(parameters), .leSetScanEnable(true, filterDuplicates)] }
  static var end: HCICommand { .leSetScanEnable(false, false) }
  static var asker: CommandQueue.Asker { .scanner }
  var endsByItself: Bool { false }

  static func event(_ isOn: Bool, _ status: HCIErrorCode) -> HostEvent { .scanning(isOn, status: status) }
}

extension BluetoothHost {
  /// Begins to scan, or continues with other parameters; ``HostEvent/scanning(_:status:)`` follows.
  public mutating func startScanning(
    _ parameters: ScanParameters, filterDuplicates: Bool, at now: Instant
  ) -> [HostAction] {
    guard mayAct() else { return [] }
    carryOut(
      scanner.perform(.start(HostScan(parameters: parameters, filterDuplicates: filterDuplicates))), at: now)
    return takeActions()
  }

  /// Ends scanning; ``HostEvent/scanning(_:status:)`` follows, even if it was off.
  public mutating func stopScanning(at now: Instant) -> [HostAction] {
    guard mayAct() else { return [] }
    carryOut(scanner.perform(.stop), at: now)
    return takeActions()
  }
}
