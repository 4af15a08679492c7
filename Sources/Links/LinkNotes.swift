import Basics
public import Bluetooth

/// What notes down what goes over a link: its packets and, for a family of locks, what is needed to read them.
public final class LinkNotes {
  /// The packets.
  public let packets: PacketRecorder
  /// What a family has noted beside them; `nil` until one does.
  public private(set) var family: (any FamilyNotes)?

  /// Makes notes of what a recorder records.
  public init(_ packets: PacketRecorder = PacketRecorder()) { self.packets = packets }

  /// The notes of a family, which are made where there are none yet.
  public func notes<Notes: FamilyNotes>(of type: Notes.Type) -> Notes {
    if let known = family as? Notes { return known }
    let made = Notes(packets)
    family = made
    return made
  }

  /// Forgets everything.
  public func startOver() {
    packets.startOver(at: .zero)
    family?.startOver()
  }
}

/// What a family of locks notes of a link, to read its packets.
public protocol FamilyNotes: AnyObject {
  /// Makes notes beside the packets of a recorder.
  init(_ packets: PacketRecorder)

  /// Forgets everything, the packets too.
  func startOver()

  /// The recorded packets, decoded, in the order of time. Keys are not shown.
  func decoded() -> [CaptureEntry]
}

/// A device whose link can be noted down.
public protocol RecordedDevice {
  /// Notes what goes over the link from now on, from the beginning of each test; `nil` ends it.
  mutating func record(to notes: LinkNotes?)
}

extension AirDevice: RecordedDevice where Client: RecordedDevice {
  public func record(to notes: LinkNotes?) { wrapped.record(to: notes) }
}
