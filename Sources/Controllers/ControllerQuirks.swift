/// Behaviour of real controllers that contradicts the specification, or that the specification leaves open.
///
/// A host must handle each of them.
public struct ControllerQuirks: OptionSet, Hashable, Sendable {
  /// One bit for each quirk.
  public var rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// `shared-buffers`: there are no separate LE buffers; LE Read Buffer Size returns 0, and Read Buffer Size
  /// returns the number of buffers (Core 5.4, Vol 4 Part E §4.1.1).
  public static let sharedBuffers = ControllerQuirks(rawValue: 1 << 0)
  /// `extended-reports`: the controller reports advertisements with LE Extended Advertising Report even if the host
  /// did not enable it.
  public static let extendedReports = ControllerQuirks(rawValue: 1 << 1)
  /// `enhanced-connection`: a host that enabled both events receives LE Enhanced Connection Complete for a new link
  /// (§7.7.65.10).
  public static let enhancedConnection = ControllerQuirks(rawValue: 1 << 2)
  /// `ignored-masks`: the controller sends events that the host has masked.
  public static let ignoredMasks = ControllerQuirks(rawValue: 1 << 3)
  /// `remote-reason`: the end that terminated a link receives reason 0x13, as if its peer had terminated it.
  public static let remoteReason = ControllerQuirks(rawValue: 1 << 4)
  /// `no-rssi`: the RSSI is never available.
  public static let noRSSI = ControllerQuirks(rawValue: 1 << 5)
}
