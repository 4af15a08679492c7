import TestSupport
import Testing

@testable import Transports

@Suite("The text of transports")
struct TransportSpecTests {
  // swift-format-ignore
  @Test(
    "what is read is written the same way",
    arguments: [
      ("usb:0", .usb(USBSelector(.index(0)))),
      ("usb:0A12:0001", .usb(USBSelector(.product(vendor: 0x0A12, product: 1, index: 0)))),
      ("usb:0A12:0001#2", .usb(USBSelector(.product(vendor: 0x0A12, product: 1, index: 2)))),
      ("usb:04B4:F901/00E04C239987", .usb(USBSelector(.serial(vendor: 0x04B4, product: 0xF901, serial: "00E04C239987")))),
      ("usb:1-2.3", .usb(USBSelector(.path("1-2.3")))),
      ("usb:0B05:17CB!", .usb(USBSelector(.product(vendor: 0x0B05, product: 0x17CB, index: 0), isForced: true))),
      ("hci-socket:3", .hciSocket(3)),
      ("tcp-client:127.0.0.1:6402", .tcpClient(host: "127.0.0.1", port: 6402)),
      ("tcp-client:[::1]:6402", .tcpClient(host: "::1", port: 6402)),
      ("tcp-server:_:9001", .tcpServer(host: nil, port: 9001)),
      ("tcp-server:localhost:0", .tcpServer(host: "localhost", port: 0)),
      ("unix-client:/tmp/hci socket:1", .unixClient(path: "/tmp/hci socket:1")),
      ("unix-client:@hci", .unixClient(path: "@hci")),
      ("serial:/dev/ttyACM0,115200", .serial(path: "/dev/ttyACM0", speed: 115_200, hasFlowControl: false)),
      ("serial:/dev/ttyUSB0,1000000,rtscts", .serial(path: "/dev/ttyUSB0", speed: 1_000_000, hasFlowControl: true)),
    ] as [(String, TransportSpec)])
  func roundTrip(text: String, spec: TransportSpec) throws {
    expect(try TransportSpec(text: text), spec)
    expect(spec.description, text)
  }

  @Test(
    "there is more than one way to write some",
    arguments: [
      ("usb:a12:1", "usb:0A12:0001"), ("hci-socket:hci0", "hci-socket:0"), ("unix:/s", "unix-client:/s"),
      ("serial:/dev/ttyUSB0", "serial:/dev/ttyUSB0,1000000"),
      ("serial:/dev/ttyUSB0,rtscts,9600", "serial:/dev/ttyUSB0,9600,rtscts"),
    ])
  func synonyms(text: String, canonical: String) throws {
    expect(try TransportSpec(text: text).description, canonical)
  }

  @Test(
    "what is no transport comes back with what to write",
    arguments: [
      ("", "starts with none of usb:, hci-socket:"), ("bluetooth:0", "starts with none of"),
      ("usb", "usb:0A12:0001"), ("usb:", "usb:0A12:0001"), ("usb:-1", "usb:1-2.3"), ("usb:+1", "usb:1-2.3"),
      ("usb:0A12", "usb:0A12:0001"), ("usb:0A12:", "usb:0A12:0001"), ("usb:0A12:00001F", "usb:0A12:0001"),
      ("usb:0A12:0001/", "SERIAL"), ("usb:0A12:0001#x", "#1"), ("usb:1-", "usb:1-2.3"),
      ("usb:1-2..3", "usb:1-2.3"),
      ("usb:256-1", "usb:1-2.3"), ("hci-socket:", "hci0"), ("hci-socket:hci", "hci0"),
      ("hci-socket:65535", "hci0"),
      ("tcp-client:", "127.0.0.1:6402"), ("tcp-client:6402", "127.0.0.1:6402"),
      ("tcp-client::6402", "127.0.0.1:6402"),
      ("tcp-client:host:65536", "up to 65535"), ("tcp-client:host:-1", "up to 65535"),
      ("tcp-client:host:0", "port 0"),
      ("tcp-client:_:1", "needs a host"), ("tcp-client:::1:6402", "brackets"),
      ("tcp-server:_", "a host and a port"),
      ("unix-client:", "path"), ("unix-client:@", "path"),
      ("unix-client:/" + String(repeating: "x", count: 107), "107 bytes"),
      ("serial:", "/dev/ttyUSB0,115200"), ("serial:,115200", "/dev/ttyUSB0,115200"),
      ("serial:/dev/x,1234", "9600, 19200"),
      ("serial:/dev/x,115200,xonxoff", "only rtscts"), ("serial:/dev/x,", "only rtscts"),
    ])
  func mistakes(text: String, hint: String) {
    let error = #expect(throws: TransportSpecError.self) { try TransportSpec(text: text) }
    #expect(error?.hint.contains(hint) == true, "\(error?.description ?? "nothing was wrong")")
    #expect(error?.text == text)
  }
}
