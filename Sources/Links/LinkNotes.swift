import Basics
public import Bluetooth

/// Records the packets of a link and, for a family of locks, the data needed to decode them.
public final class LinkNotes {
  /// The recorder of the packets.
  public let packets: PacketRecorder
  /// The family's own notes; `nil` until a family adds them.
  public private(set) var family: (any FamilyNotes)?

  /// Creates notes around a packet recorder.
  public init(_ packets: PacketRecorder = PacketRecorder()) { self.packets = packets }

  /// Returns the notes of a family, and creates them if there are none.
  public func notes<Notes: FamilyNotes>(of type: Notes.Type) -> Notes {
    if let known = family as? Notes { return known }
    let made = Notes(packets)
    family = made
    return made
  }

  /// Discards everything recorded.
  public func startOver() {
    packets.startOver(at: .zero)
    family?.startOver()
  }
}

/// The notes that a family of locks takes of a link, in order to decode its packets.
public protocol FamilyNotes: AnyObject {
  /// Creates notes that accompany the packets of a recorder.
  init(_ packets: PacketRecorder)

  /// Discards everything recorded, including the packets.
  func startOver()

  /// Returns the recorded packets, decoded and in chronological order. Keys are not shown.
  func decoded() -> [CaptureEntry]
}

/// A device whose link can be recorded.
public protocol RecordedDevice {
  /// Records the link from now on, with a new recording for each test; `nil` stops it.
  mutating func record(to notes: LinkNotes?)
}

extension AirDevice: RecordedDevice where Client: RecordedDevice {
  public func record(to notes: LinkNotes?) { wrapped.record(to: notes) }
}
