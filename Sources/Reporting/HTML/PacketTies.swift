import Basics
import Journal

/// The relation between packets and rows of a timeline, which link to each other and are highlighted
/// together.
///
/// Both have times from the start of the case. A packet of the tester belongs to the tester's last action. A
/// packet of the device belongs to an observation at that moment or shortly after, which is the duration of a
/// message in several packets, and else to the last event.
struct PacketTies {
  /// A row with packets.
  struct Row {
    /// The id in the page.
    var id: String
    /// The common key of rows and packets that are highlighted together.
    var key: Int
  }

  /// The row of each packet of each list.
  private(set) var packets: [[Row?]] = []
  /// The key of each row, and its first packet.
  private var rows: [Int: (key: Int, packet: String)] = [:]

  /// How much later than a packet an observation may be.
  private static let reach = Interval.milliseconds(10)

  /// Makes ties without packets.
  init() {}

  /// Relates the packets of some lists to the rows of a timeline with limited room.
  init(_ lists: [HTMLPackets], _ timeline: HTMLTimeline, capacity: Int) {
    let moments = timeline.shown(capacity: capacity)
    for (number, list) in lists.enumerated() {
      packets.append([])
      for (index, packet) in list.shown.enumerated() {
        guard let momentIndex = packet.instant.flatMap({ Self.index(of: packet, at: $0, in: moments) }) else {
          packets[number].append(nil)
          continue
        }
        let (row, moment) = moments[momentIndex]
        packets[number].append(Row(id: "\(timeline.id)-r\(row)", key: row))
        // Observations at the same moment belong together.
        let same = moments[momentIndex...].prefix { $0.moment.time == moment.time }
        for other in same where rows[other.number] == nil && other.moment.lane == moment.lane {
          guard other.number == row || moment.lane == .device else { continue }
          rows[other.number] = (row, "\(timeline.id)-p\(number)-\(index)")
        }
      }
    }
  }

  private static func index(
    of packet: HTMLPackets.Packet, at time: Instant, in moments: [(number: Int, moment: Moment)]
  ) -> Int? {
    // The moments are ordered by time.
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
    if isTester, let action = before.suffix(64).lastIndex(where: { $0.moment.isDone }) { return action }
    // Packets cause no change of the model alone.
    return before.suffix(64).lastIndex { $0.moment.lane != .model } ?? before.indices.last
  }
}

extension Moment {
  /// Whether it is an action of the tester other than waiting or a note.
  fileprivate var isDone: Bool { kind == .stimulus || kind == .fault }
}

extension PacketTies {
  /// The attributes of a row that can be linked to and highlighted.
  ///
  /// - Parameter isFirst: whether the row's id is not used yet.
  func attributes(ofRow number: Int, in id: String, isFirst: Bool) -> Markup {
    guard let tie = rows[number] else { return "" }
    let idAttribute: Markup = isFirst ? " id=\"\(id)-r\(number)\"" : ""
    return "\(idAttribute) data-tie=\"\(tie.key)\""
  }

  /// The time of a row, with a link to its packets if there are any.
  func time(_ text: String, ofRow number: Int) -> Markup {
    guard let tie = rows[number] else { return "\(text)" }
    return "<a class=\"tie\" href=\"#\(tie.packet)\" title=\"To the packets\">\(text)</a>"
  }
}
