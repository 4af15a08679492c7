import Basics
import Devices
import TestSupport
import Testing

@testable import Bluetooth

@Suite("Packets as text")
struct PacketsTextTests {
  private typealias Layer = CaptureEntry.Layer

  private static let text = PacketsText(zero: 5_000_000)

  private static func entry(
    at time: UInt64 = 5_000_000, _ layers: [Layer] = [], bytes: [UInt8] = [], secrets: [Range<Int>] = [],
    event: String? = nil, controller: UInt16? = nil
  ) -> CaptureEntry {
    var entry = CaptureEntry(number: 0, time: time)
    (entry.layers, entry.bytes, entry.secrets) = (layers, bytes, secrets)
    (entry.event, entry.controller) = (event, controller)
    entry.sender = event == nil ? .client : nil
    return entry
  }

  /// Microseconds as captures count them, and the time in a line and in an object.
  // swift-format-ignore
  static let times: [(time: UInt64, line: String, object: String)] = [
    (5_000_000, "0.000000", "0.000"), (5_000_001, "0.000001", "0.000001"), (5_120_000, "0.120000", "0.120"),
    (5_123_400, "0.123400", "0.1234"), (17_000_000, "12.000000", "12.000"), (15_000_500, "10.000500", "10.0005"),
    // What came before the time that counts as zero.
    (4_999_999, "-0.000001", "-0.000001"), (3_750_000, "-1.250000", "-1.250"), (0, "-5.000000", "-5.000"),
  ]

  @Test("a time has six decimals for people, and at least three for programs", arguments: times)
  func time(time: UInt64, line: String, object: String) {
    let entry = Self.entry(at: time, event: "x")
    expect(Self.text.line(entry).split(separator: " ").first.map(String.init), line)
    expect(Self.text.json(entry).line, #"{"t":"\#(object)","event":"x"}"#)
  }

  private static let frame = Layer("ATT", "write 0x000d")

  /// A packet, its line, its lines, and its object.
  // swift-format-ignore
  private static let entries: [(entry: CaptureEntry, line: String, lines: [String], json: String)] = [
    (entry([Layer("HCI", "data"), frame], bytes: [1, 0xAB]), "ATT        write 0x000d",
      ["2 bytes", "HCI        data", "ATT        write 0x000d", "bytes      01ab"],
      #""from":"client","bytes":"01ab","layers":[{"layer":"HCI","text":"data"},{"layer":"ATT","text":"write 0x000d"}]"#),
    (entry(bytes: []), "", ["0 bytes"], #""from":"client","bytes":"","layers":[]"#),
    // Why something encrypted was not read goes with the frame that it is.
    (entry([frame, Layer("Plaintext", "no key")], bytes: [7]), "ATT        write 0x000d; no key",
      ["1 bytes", "ATT        write 0x000d", "Plaintext  no key", "bytes      07"],
      #""from":"client","bytes":"07","layers":[{"layer":"ATT","text":"write 0x000d"},{"layer":"Plaintext","text":"no key"}]"#),
    (entry([Layer("Plaintext", "no key")], bytes: [7]), "Plaintext  no key",
      ["1 bytes", "Plaintext  no key", "bytes      07"],
      #""from":"client","bytes":"07","layers":[{"layer":"Plaintext","text":"no key"}]"#),
    // Of a secret nothing is shown, in whatever form.
    (entry([frame], bytes: [1, 2, 3, 4], secrets: [1..<3]), "ATT        write 0x000d",
      ["4 bytes", "ATT        write 0x000d", "bytes      01****04"],
      #""from":"client","bytes":"01****04","layers":[{"layer":"ATT","text":"write 0x000d"}]"#),
    (entry([frame], bytes: Array(repeating: 0x11, count: 33)), "ATT        write 0x000d",
      ["33 bytes", "ATT        write 0x000d", "bytes      " + String(repeating: "11", count: 32), "           11"],
      #""from":"client","bytes":"\#(String(repeating: "11", count: 33))","layers":[{"layer":"ATT","text":"write 0x000d"}]"#),
  ]

  @Test("a packet is a line, a line for each layer, and an object", arguments: entries.indices)
  func packet(index: Int) {
    let (entry, line, lines, json) = Self.entries[index]
    let heading = "    0.000000  client      "
    expect(Self.text.line(entry), heading + line)
    expect(
      Self.text.lines(entry).split(separator: "\n").map(String.init),
      [heading + lines[0]] + lines.dropFirst().map { "              " + $0 })
    expect(Self.text.json(entry).line, #"{"t":"0.000",\#(json)}"#)
  }

  @Test("an event of a link is one line, with the controller where there are several")
  func events() {
    let entry = Self.entry(event: "disconnected", controller: 12)
    let line = "    0.000000  hci12             -- disconnected"
    expect([Self.text.line(entry), Self.text.lines(entry)], [line, line])
    expect(Self.text.json(entry).line, #"{"t":"0.000","controller":12,"event":"disconnected"}"#)
  }

  @Test(
    "what a terminal would obey, or what would turn a line round, is visible",
    arguments: [
      ("a\u{1B}[2Jb", "a\\u{1b}[2Jb"), ("a\nb", "a\\u{a}b"), ("a\u{202E}b", "a\\u{202e}b"),
      ("a\u{2028}b", "a\\u{2028}b"), ("a\u{200B}b", "a\\u{200b}b"), ("Tür → 門", "Tür → 門"),
      ("a\\u{a}", "a\\u{a}"),
    ])
  func invisible(text: String, shown: String) {
    let heading = "    0.000000  client      "
    expect(Self.text.line(Self.entry([Layer("ATT", text)])), heading + "ATT        " + shown)
    expect(
      Self.text.line(Self.entry([Layer("ATT", ""), Layer("Plaintext", text)])).hasSuffix("; " + shown), true)
    expect(Self.text.line(Self.entry(event: text)).hasSuffix("-- " + shown), true)
  }
}
