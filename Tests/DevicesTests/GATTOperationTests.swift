import Basics
import Devices
import Journal
import TestSupport
import Testing

@testable import Bluetooth

@Suite("What is typed to a GATT server, and what it shows")
struct GATTOperationTests {
  private static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }
  private static let order = BluetoothUUID(0xFFF1)

  // swift-format-ignore
  private static let lines: [(String, GATTLine)] = [
    ("", .blank), ("  # a comment", .blank), ("quit", .quit), ("help", .help),
    ("services", .operation(.services(withValues: false))), ("services values", .operation(.services(withValues: true))),
    ("read 2A00", .operation(.read(.uuid(BluetoothUUID(0x2A00))))), ("read 0x3", .operation(.read(.handle(handle(3))))),
    ("read device name  # as people call it", .operation(.read(.uuid(BluetoothUUID(0x2A00))))),
    ("write fff1 01 02\r", .operation(.write(AttributeWrite(.uuid(order), [1, 2]), isCommand: false))),
    ("write fff1=", .operation(.write(AttributeWrite(.uuid(order), []), isCommand: false))),
    ("write fff1 0x01:02-03", .operation(.write(AttributeWrite(.uuid(order), [1, 2, 3]), isCommand: false))),
    ("write-command 0x00ff aB", .operation(.write(AttributeWrite(.handle(handle(0xFF)), [0xAB]), isCommand: true))),
    ("subscribe fff1", .operation(.subscribe(.uuid(order)))), ("unsubscribe fff1", .operation(.unsubscribe(.uuid(order)))),
    ("mtu", .operation(.mtu)),
  ]

  @Test("each line means one thing", arguments: lines.indices)
  func line(index: Int) throws {
    expect(try GATTLine(text: Self.lines[index].0), Self.lines[index].1)
  }

  // swift-format-ignore
  private static let mistakes: [(String, String)] = [
    ("raed 2a00", "there is no 'raed': did you mean 'read'?"),
    ("open", "there is no 'open': 'help' lists what there is"),
    ("read", "read what? read UUID, or read HANDLE"),
    ("read 2a0", "'2a0' is neither a UUID such as 2a00 nor a handle such as 0x0003"),
    ("read batery-level", "'batery-level' is neither a UUID such as 2a00 nor a handle such as 0x0003: did you mean 'Battery Level'?"),
    ("read 0x0", "'0x0' is no handle: they go from 0x0001 to 0xffff"),
    ("read 0x10000", "'0x10000' is no handle: they go from 0x0001 to 0xffff"),
    ("read 0x+1", "'0x+1' is no handle: they go from 0x0001 to 0xffff"),
    ("write fff1", "what is to be written, and where? write UUID HEX"),
    ("write fff1 012", "'012' is no value in hexadecimal: two digits for each byte, such as 0102 or 01:02"),
    ("write fff1 " + String(repeating: "00", count: 513), "a value of 513 bytes is too long: no attribute holds more than 512"),
    ("mtu 100", "'mtu' takes nothing such as '100'"),
  ]

  @Test("what is wrong with a line is said", arguments: mistakes.indices)
  func mistake(index: Int) {
    #expect(throws: GATTMistake(Self.mistakes[index].1)) { try GATTLine(text: Self.mistakes[index].0) }
  }

  private static let door = DiscoveredCharacteristic(
    uuid: order, properties: [.write, .notify], declaration: handle(4), value: handle(5))
  private static let attribute = DiscoveredAttribute.characteristic(door, in: BluetoothUUID(0xFFF0))

  // swift-format-ignore
  private static let findings: [(GATTFinding, line: String, json: String)] = [
    (.attribute(.service(DiscoveredService(uuid: BluetoothUUID(0x1800), range: AttributeRange(handle(1), handle(9)))), value: nil),
     "0x0001  service 1800 (Generic Access), up to 0x0009",
     #"{"event":"service","handle":"0x0001","uuid":"1800","name":"Generic Access","last":"0x0009"}"#),
    (.attribute(attribute, value: .success(Array("ab\0".utf8))),
     "0x0005    characteristic fff1: write, notify\n              616200  \"ab\"",
     #"{"event":"characteristic","handle":"0x0005","uuid":"fff1","declaration":"0x0004","properties":["write","notify"],"service":"fff0","value":"616200","text":"ab"}"#),
    (.attribute(.descriptor(DiscoveredDescriptor(uuid: .clientConfiguration, handle: handle(6)), of: door), value: .failure(.refused(.readNotPermitted, handle(6)))),
     "0x0006      descriptor 2902 (Client Characteristic Configuration)\n              refused with 0x02 (read not permitted) at 0x0006",
     #"{"event":"descriptor","handle":"0x0006","uuid":"2902","name":"Client Characteristic Configuration","of":"0x0005","error":"refused with 0x02 (read not permitted) at 0x0006","code":2}"#),
    (.value(.unknown(handle(0x10)), []), "0x0010   empty", #"{"event":"read","handle":"0x0010","value":""}"#),
    (.value(attribute, [0x1B, 0x5B]), "0x0005 (fff1)   1b5b", #"{"event":"read","handle":"0x0005","uuid":"fff1","value":"1b5b"}"#),
    (.value(attribute, [0xFF]), "0x0005 (fff1)   ff", #"{"event":"read","handle":"0x0005","uuid":"fff1","value":"ff"}"#),
    (.notification(.microseconds(1_234_567), attribute, [0x41]), "1.234 s   0x0005 (fff1)   41  \"A\"",
     #"{"event":"notification","handle":"0x0005","uuid":"fff1","t":"1.234567","value":"41","text":"A"}"#),
    (.written(attribute, count: 1, isAcknowledged: false), "wrote 1 byte to 0x0005 (fff1), without response",
     #"{"event":"written","handle":"0x0005","uuid":"fff1","bytes":1,"acknowledged":false}"#),
    (.subscription(attribute, .notifications), "subscribed to notifications of 0x0005 (fff1)",
     #"{"event":"subscription","handle":"0x0005","uuid":"fff1","to":"notifications"}"#),
    (.refused(.reading(attribute), .refused(.readNotPermitted, handle(5))),
     "reading 0x0005 (fff1): refused with 0x02 (read not permitted) at 0x0005; it offers write, notify",
     #"{"event":"refused","handle":"0x0005","uuid":"fff1","what":"reading 0x0005 (fff1)","error":"refused with 0x02 (read not permitted) at 0x0005","code":2}"#),
    (.refused(.writing(attribute), .refused(.insufficientEncryption, handle(5))),
     "writing 0x0005 (fff1): refused with 0x0f (insufficient encryption) at 0x0005; it is for paired clients, and nothing is paired here",
     #"{"event":"refused","handle":"0x0005","uuid":"fff1","what":"writing 0x0005 (fff1)","error":"refused with 0x0f (insufficient encryption) at 0x0005","code":15}"#),
    (.mtu(23), "MTU 23: a write without response, or a notification, carries 20 bytes", #"{"event":"mtu","mtu":23}"#),
  ]

  @Test("a finding is a line for people and an object for programs", arguments: findings.indices)
  func finding(index: Int) {
    let (finding, line, json) = Self.findings[index]
    expect(finding.line, line)
    expect(finding.json.line, json)
  }

  @Test("what a visit ends with")
  func endings() {
    let all: [GATTEnding] = [.done, .refused, .mistake("a"), .fault("b"), .interrupted]
    expect(all.map(\.status.rawValue), [0, 1, 2, 3, 5])
    expect(all.map(\.words), [nil, nil, "a", "b", "stopped before the end"])
  }
}
