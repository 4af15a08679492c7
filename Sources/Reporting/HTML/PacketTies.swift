import Basics
import Journal

/// Which packets belong to which rows of a timeline: there and back by a link, and lit together.
///
/// Both count their times from the start of the case. What the tester's side sends belongs to what the tester did last;
/// what the device's side sends, to what the device is seen to do at that moment or just after, which is how long a
/// message of several packets takes; and else to whatever happened last.
struct PacketTies {
  /// A row to which packets belong.
  struct Row {
    /// What it is called by in the page.
    var id: String
    /// What rows and packets have in common that are lit together.
    var key: Int
  }

  /// The row of each packet of each list.
  private(set) var packets: [[Row?]] = []
  /// The key of each row, and its first packet.
  private var rows: [Int: (key: Int, packet: String)] = [:]

  /// For how long packets of the device belong to what is seen of it after them.
  private static let reach = Interval.milliseconds(10)

  /// No packets.
  init() {}

  /// Ties the packets of some lists to the rows of a timeline for which there is so much room.
  init(_ lists: [HTMLPackets], _ timeline: HTMLTimeline, room: Int) {
    let moments = timeline.shown(room: room)
    for (number, list) in lists.enumerated() {
      packets.append([])
      for (index, packet) in list.shown.enumerated() {
        guard let place = packet.instant.flatMap({ Self.place(of: packet, at: $0, in: moments) }) else {
          packets[number].append(nil)
          continue
        }
        let (row, moment) = moments[place]
        packets[number].append(Row(id: "\(timeline.id)-r\(row)", key: row))
        // What is seen of the device at one moment is one thing.
        let same = moments[place...].prefix { $0.moment.time == moment.time }
        for other in same where rows[other.number] == nil && other.moment.lane == moment.lane {
          guard other.number == row || moment.lane == .device else { continue }
          rows[other.number] = (row, "\(timeline.id)-p\(number)-\(index)")
        }
      }
    }
  }

  private static func place(
    of packet: HTMLPackets.Packet, at time: Instant, in moments: [(number: Int, moment: Moment)]
  ) -> Int? {
    // The moments stand in the order of their times.
    var (low, high) = (0, moments.count)
    while low < high {
      let middle = (low + high) / 2
      if moments[middle].moment.time < time { low = middle + 1 } else { high = middle }
    }
    let isTester = ["client", "host"].contains(packet.from)
    var end = low
    while end < moments.count, moments[end].moment.time <= time + reach {
      if !isTester, moments[end].moment.lane == .device { return end }
      if moments[end].moment.time > time, isTester { break }
      end += 1
    }
    let before = moments[..<(isTester ? end : low)]
    if isTester, let own = before.suffix(64).lastIndex(where: { $0.moment.isDone }) { return own }
    // That the model thought again is nothing that packets bring about.
    return before.suffix(64).lastIndex { $0.moment.lane != .model } ?? before.indices.last
  }
}

extension Moment {
  /// Whether the tester did something, and did not only wait for something or take note.
  fileprivate var isDone: Bool { kind == .stimulus || kind == .fault }
}

extension PacketTies {
  /// What makes a row one that can be gone to, and lit.
  ///
  /// - Parameter isFirst: whether no row was given its id before.
  func attributes(ofRow number: Int, in id: String, isFirst: Bool) -> Markup {
    guard let tie = rows[number] else { return "" }
    let own: Markup = isFirst ? " id=\"\(id)-r\(number)\"" : ""
    return "\(own) data-tie=\"\(tie.key)\""
  }

  /// The time of a row, which leads to its packets where it has some.
  func time(_ text: String, ofRow number: Int) -> Markup {
    guard let tie = rows[number] else { return "\(text)" }
    return "<a class=\"tie\" href=\"#\(tie.packet)\" title=\"To the packets\">\(text)</a>"
  }
}
