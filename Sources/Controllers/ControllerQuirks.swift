/// What real controllers do though the specification says otherwise, or leaves it open.
///
/// A host must live with each of them.
public struct ControllerQuirks: OptionSet, Hashable, Sendable {
  /// One bit each.
  public var rawValue: UInt8

  /// Makes a set from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// `shared-buffers`: LE has no buffers of its own; LE Read Buffer Size says 0, and Read Buffer Size says
  /// how many there are (Core 5.4, Vol 4 Part E §4.1.1).
  public static let sharedBuffers = ControllerQuirks(rawValue: 1 << 0)
  /// `extended-reports`: advertisements are reported by LE Extended Advertising Report even if the host did not
  /// enable it.
  public static let extendedReports = ControllerQuirks(rawValue: 1 << 1)
  /// `enhanced-connection`: a host that enabled both events receives LE Enhanced Connection Complete for a new link
  /// (§7.7.65.10).
  public static let enhancedConnection = ControllerQuirks(rawValue: 1 << 2)
  /// `ignored-masks`: events come that the host did not want.
  public static let ignoredMasks = ControllerQuirks(rawValue: 1 << 3)
  /// `remote-reason`: who ended a link hears 0x13, as if the other end had.
  public static let remoteReason = ControllerQuirks(rawValue: 1 << 4)
  /// `no-rssi`: the strength of a signal is never known.
  public static let noRSSI = ControllerQuirks(rawValue: 1 << 5)
}
