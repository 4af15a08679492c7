import Basics
import Bluetooth
import TestSupport
import Testing

@testable import Devices

/// A family that knows the packets of some numbers, some of them late.
private struct MarkingReader: FamilyReader {
  let name: String
  let known: Set<Int>
  /// How many entries wait for more.
  let delay: Int
  var secrets: [Range<Int>] = []
  private var decoder = CaptureDecoder()
  private var waiting: [CaptureEntry] = []

  init(_ name: String, _ known: Set<Int>, delay: Int = 0, secrets: [Range<Int>] = []) {
    (self.name, self.known, self.delay, self.secrets) = (name, known, delay, secrets)
  }

  mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry] {
    for var entry in decoder.decode(record).entries {
      if known.contains(entry.number) {
        entry.layers.append(.init(name, "known"))
        entry.secrets = secrets
      }
      waiting.append(entry)
    }
    guard waiting.count > delay else { return [] }
    return finish()
  }

  mutating func finish() -> [CaptureEntry] {
    defer { waiting = [] }
    return waiting
  }
}

@Suite("A capture and the families that read it")
struct CaptureReaderTests {
  private func records(_ count: Int) -> [BTSnoop.Record] {
    let recorder = PacketRecorder()
    for number in 0..<count {
      recorder.note(
        HCICommand.leSetScanEnable(true, false).packet, isReceived: false,
        at: Instant.zero + Interval.milliseconds(Int64(number)))
    }
    return recorder.records
  }

  private func read(_ readers: [any FamilyReader], _ records: [BTSnoop.Record]) -> [CaptureEntry] {
    var reader = CaptureReader(readers)
    return records.flatMap { reader.decode($0) } + reader.finish()
  }

  @Test("of each packet the first family says what it is that knows it, in the order of the capture")
  func families() {
    let records = records(7)
    var decoder = CaptureDecoder()
    let plain = records.flatMap { decoder.decode($0).entries }
    let entries = read([MarkingReader("A", [1, 2], delay: 2), MarkingReader("B", [2, 4, 6])], records)
    expect(entries.map(\.number), plain.map(\.number))
    expect(entries.map { $0.layers.last?.name }, ["HCI", "A", "A", "HCI", "B", "HCI", "B"])
    for number in [0, 3, 5] { expect(entries[number], plain[number]) }
  }

  @Test("what any family hides is hidden, whichever says what the packet is")
  func secrets() {
    let entries = read(
      [MarkingReader("A", [0], secrets: [0..<1]), MarkingReader("B", [0, 1], secrets: [2..<3])], records(2))
    expect(entries.map(\.secrets), [[0..<1, 2..<3], [2..<3]])
  }

  @Test("one family alone is heard as it is, and with none Bluetooth is")
  func few() {
    let records = records(3)
    expect(read([MarkingReader("A", [0])], records).map { $0.layers.last?.name }, ["A", "HCI", "HCI"])
    expect(read([], records).map { $0.layers.last?.name }, ["HCI", "HCI", "HCI"])
  }
}
