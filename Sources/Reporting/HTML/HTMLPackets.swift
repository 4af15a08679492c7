import Journal
import Basics
import System

/// The packets of a case, from the decoded capture that its verdict names.
struct HTMLPackets {
  /// One line of the file.
  struct Packet {
    var time: String
    /// The time as a number, if it is one.
    var instant: Instant?
    /// The sender; `nil` for an event of the link.
    var from: String?
    /// The first of its bytes in hexadecimal, and their number.
    var bytes: String
    var count: Int
    var layers: [(name: String, text: String)]
    var event: String?
  }

  /// How many packets of a case are shown, from the beginning and from the end.
  private static let (first, last) = (20, 180)
  /// The maximum number of shown bytes of a packet, and the maximum length of a line about a layer.
  private static let (maximumBytes, longestLine) = (1024, 400)

  private var head: [Packet] = []
  private var tail: [Packet] = []
  private var omitted = 0
  private var problem: String?
  /// Whether the page has room for them.
  private var isShown = true

  /// Reads a decoded capture; if it is missing or malformed, the section states that.
  init(path: String) {
    do {
      var lines = try LineReader(path)
      while try lines.advance() {
        if lines.line.isEmpty { continue }
        guard let value = try? JSON(parsing: lines.line, isLenient: true), let packet = Self.packet(value)
        else {
          // The last line may be incomplete, as in a journal.
          if lines.isTerminated { problem = "Line \(lines.number) of \(path) is no packet." }
          continue
        }
        append(packet)
      }
    } catch {
      problem = "\(error)"
    }
  }

  private mutating func append(_ packet: Packet) {
    if head.count < Self.first { return head.append(packet) }
    tail.append(packet)
    guard tail.count >= 2 * Self.last else { return }
    omitted += Self.last
    tail.removeFirst(Self.last)
  }

  private static func packet(_ value: JSON) -> Packet? {
    guard let time = value["t"]?.string else { return nil }
    let layers = (value["layers"]?.elements ?? []).prefix(20).compactMap { layer in
      layer["layer"]?.string.map {
        (clipped($0, toBytes: 60), clipped(layer["text"]?.string ?? "", toBytes: longestLine))
      }
    }
    let event = value["event"]?.string.map { clipped($0, toBytes: longestLine) }
    let bytes = value["bytes"]?.string ?? ""
    guard event != nil || !bytes.isEmpty else { return nil }
    return Packet(
      time: clipped(time, toBytes: 40), instant: Instant(seconds: time),
      from: value["from"]?.string.map { clipped($0, toBytes: 40) },
      bytes: String(bytes.prefix(2 * maximumBytes)), count: bytes.utf8.count / 2, layers: layers, event: event
    )
  }

  /// Reserves the room for the packets; without enough room they are not shown.
  mutating func take(from capacity: inout Int) {
    if tail.count > Self.last {
      omitted += tail.count - Self.last
      tail.removeFirst(tail.count - Self.last)
    }
    isShown = head.count + tail.count <= capacity
    if isShown { capacity -= head.count + tail.count }
  }

  /// The packets that have a row.
  var shown: [Packet] { isShown ? head + tail : [] }

  /// The packets, folded; each of them folded again.
  ///
  /// - Parameters:
  ///   - id: the id of the list in the page.
  ///   - rows: the row of the timeline for each shown packet.
  func markup(id: String, rows ties: [PacketTies.Row?]) -> Markup {
    let count = head.count + omitted + tail.count
    guard count > 0 || problem != nil else { return "" }
    var rows = Markup()
    if isShown {
      for (number, packet) in shown.enumerated() {
        if number == head.count, omitted > 0 {
          rows += "<li class=\"note\">⋮ \(counted(omitted, "packet")) left out</li>\n"
        }
        rows += row(packet, "\(id)-\(number)", number < ties.count ? ties[number] : nil)
      }
    } else {
      rows = "<li class=\"note\">Too many packets for one page; the file has them.</li>\n"
    }
    let problem: Markup = problem.map { "<p class=\"note bad\">\($0)</p>\n" } ?? ""
    return """
      <details class="packets"><summary>Packets <span class="count">\(grouped(count))</span></summary>
      \(problem)<ol class="packetlist">
      \(rows)</ol></details>

      """
  }

  private func row(_ packet: Packet, _ id: String, _ row: PacketTies.Row?) -> Markup {
    let time: Markup =
      row.map { "<a class=\"tie num\" href=\"#\($0.id)\" title=\"To the timeline\">\(packet.time)</a>" }
      ?? "<span class=\"num\">\(packet.time)</span>"
    let tie: Markup = row.map { " id=\"\(id)\" data-tie=\"\($0.key)\"" } ?? ""
    if let event = packet.event {
      return "<li class=\"linkevent\"\(tie)>\(time) ⚡ \(event)</li>\n"
    }
    let arrow: Markup = ["lock", "controller"].contains(packet.from) ? "◀" : "▶"
    let top =
      packet.layers.last.map { "\($0.name): \($0.text)" } ?? counted(packet.count, "byte")
    let cut: Markup =
      packet.count > Self.maximumBytes ? "<p class=\"note\">of \(counted(packet.count, "byte"))</p>" : ""
    let layers = packet.layers.markup { "<dt>\($0.name)</dt><dd>\($0.text)</dd>\n" }
    return """
      <li\(tie)>\(time)<details><summary><span class="from">\(arrow) \
      \(packet.from ?? "")</span> \(top)</summary>
      <div class="layers"><dl>\(layers)</dl>\(scrolling("Bytes of the packet", hexDump(packet.bytes)))\(cut)</div></details></li>

      """
  }

  /// Sixteen bytes a line with their offset, and as ASCII.
  private func hexDump(_ digits: String) -> Markup {
    let digits = Array(digits.utf8)
    guard digits.count.isMultiple(of: 2), digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit })
    else { return "<pre>\n\(String(decoding: digits, as: UTF8.self))</pre>" }
    var lines: [String] = []
    for start in stride(from: 0, to: digits.count, by: 32) {
      let row = digits[start..<min(start + 32, digits.count)]
      var (hex, ascii) = ("", "")
      for place in stride(from: row.startIndex, to: row.endIndex, by: 2) {
        let pair = String(decoding: row[place..<place + 2], as: UTF8.self)
        let byte = UInt8(pair, radix: 16) ?? 0
        hex += pair + " "
        ascii += (0x20..<0x7F).contains(byte) ? String(Unicode.Scalar(byte)) : "·"
      }
      lines.append((start / 2).hex(digits: 4) + "  \(hex.leftAligned(in: 48)) \(ascii)")
    }
    return "<pre>\n\(lines.joined(separator: "\n"))</pre>"
  }
}
