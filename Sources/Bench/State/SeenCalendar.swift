import System
public import Basics

/// The latest moment of the calendar that any run on this machine has seen.
///
/// Clocks are set back, by people and by batteries that are empty: what was over then would not be over any more.
public struct SeenCalendar: Equatable, Sendable {
  /// What the calendar says.
  public let now: WallTime
  /// The latest that it ever said.
  public let latest: WallTime
  private let path: String?

  /// By how much a calendar may be behind: time servers correct it.
  static let tolerance = Interval.seconds(300)
  /// How much later it has to be for it to be worth a note.
  private static let step = Interval.seconds(60)

  /// Reads what was seen.
  ///
  /// - Parameters:
  ///   - now: what the calendar says.
  ///   - path: where what was seen is kept; in the ``StateFolder`` unless given.
  public init(now: WallTime, at path: String? = StateFolder.path.map { $0 + "/calendar" }) {
    self.now = now
    self.path = path
    let line = path.flatMap { try? WholeFile.bytes(of: $0) }?.prefix { $0 != UInt8(ascii: "\n") }
    let seen = line.flatMap { WallTime(text: String(decoding: $0, as: UTF8.self)) }
    latest = max(now, seen ?? now)
  }

  /// What is wrong where the calendar was set back.
  public var warning: String? {
    guard latest - now > Self.tolerance, let path else { return nil }
    return
      "the calendar of this machine was set back: it says \(now), and said \(latest) before, which is held to; where "
      + "that was wrong, remove \(path)"
  }

  /// Keeps the moment for later runs. Where it cannot be kept, they know no more than now.
  public func note() {
    guard let path, latest == now else { return }
    let seen = SeenCalendar(now: WallTime(nanoseconds: .min / 2), at: path).latest
    guard now - seen > Self.step else { return }
    try? makeFolder(Path.folder(of: path))
    try? WholeFile.replace(path, with: "\(now)\n")
    StateFolder.share(path)
  }
}
