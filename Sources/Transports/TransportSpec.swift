import Basics

/// Specifies a transport and a controller, in the syntax that Bumble's users know.
///
/// | text | controller |
/// |---|---|
/// | `usb:0` | the first Bluetooth dongle; also `usb:0A12:0001`, `usb:0A12:0001#1`, `usb:0A12:0001/SERIAL`, `usb:1-2.3` |
/// | `hci-socket:0` | the adapter hci0, which must be down, through BlueZ's user channel |
/// | `tcp-client:HOST:PORT` | a controller that listens there for H4 |
/// | `tcp-server:HOST:PORT` | a controller that connects to this port; the host `_` means all interfaces |
/// | `unix-client:PATH` | a controller that listens on a socket; a path that starts with `@` is abstract |
/// | `serial:PATH,SPEED` | a controller on a serial line with H4; `,rtscts` for hardware flow control |
public enum TransportSpec: Hashable, Sendable {
  /// A dongle, through libusb.
  case usb(USBSelector)
  /// An adapter of this machine, by number, through the kernel's HCI user channel.
  case hciSocket(Int)
  /// A server that speaks H4 over TCP.
  case tcpClient(host: String, port: UInt16)
  /// A port to which a client connects that speaks H4; no host means all interfaces.
  case tcpServer(host: String?, port: UInt16)
  /// A server that speaks H4 over a Unix socket.
  case unixClient(path: String)
  /// A serial line that carries H4; the speed in bits per second.
  case serial(path: String, speed: Int, hasFlowControl: Bool)
}

extension TransportSpec {
  /// Whether the transport leads to one controller of this machine, with real air, for exclusive use by one
  /// program. A socket may lead to anything, and its server provides a controller for each client.
  public var isController: Bool {
    switch self {
    case .usb, .hciSocket, .serial: true
    case .tcpClient, .tcpServer, .unixClient: false
    }
  }
}

/// Selects a USB dongle.
public struct USBSelector: Hashable, Sendable {
  /// The criterion of the selection.
  public enum Choice: Hashable, Sendable {
    /// Its index among the Bluetooth dongles, from 0.
    case index(Int)
    /// Vendor and product, and its index among the dongles with both.
    case product(vendor: UInt16, product: UInt16, index: Int)
    /// Vendor, product and serial number.
    case serial(vendor: UInt16, product: UInt16, serial: String)
    /// Its bus position: the bus and the ports, as in `1-2.3`.
    case path(String)
  }

  /// The criterion of the selection.
  public var choice: Choice
  /// Whether to accept an interface of another class than Bluetooth's, written with a trailing `!`.
  public var isForced: Bool

  /// Creates a selector.
  public init(_ choice: Choice, isForced: Bool = false) {
    self.choice = choice
    self.isForced = isForced
  }
}

/// The error for text that is not a transport specification.
public struct TransportSpecError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text.
  public var text: String
  /// The problem, and what to write instead.
  public var hint: String

  public var description: String { "'\(text)' is no transport: \(hint)" }
}

extension TransportSpec {
  /// The kinds, as written before the colon.
  public static let kinds = ["usb", "hci-socket", "tcp-client", "tcp-server", "unix-client", "serial"]

  /// Parses a specification.
  public init(text: some StringProtocol) throws(TransportSpecError) {
    let text = String(text)
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let rest = parts.count == 2 ? parts[1] : ""
    let result: Result<TransportSpec, Hint> =
      switch parts[0] {
      case "usb": parseUSB(rest)
      case "hci-socket": parseAdapter(rest)
      case "tcp-client": parseAddress(rest).flatMap(client)
      case "tcp-server":
        parseAddress(rest).map { .tcpServer(host: $0.host == "_" ? nil : $0.host, port: $0.port) }
      case "unix-client", "unix": parsePath(rest)
      case "serial": parseSerial(rest)
      default: .failure(unknownKind(parts[0]))
      }
    switch result {
    case .success(let spec): self = spec
    case .failure(let hint): throw TransportSpecError(text: text, hint: hint.text)
    }
  }
}

extension TransportSpec: CustomStringConvertible {
  /// The text that ``init(text:)`` reads.
  public var description: String {
    switch self {
    case .usb(let selector): "usb:\(selector)"
    case .hciSocket(let number): "hci-socket:\(number)"
    case .tcpClient(let host, let port): "tcp-client:\(bracketed(host)):\(port)"
    case .tcpServer(let host, let port): "tcp-server:\(host.map(bracketed) ?? "_"):\(port)"
    case .unixClient(let path): "unix-client:\(path)"
    case .serial(let path, let speed, let hasFlowControl):
      "serial:\(path),\(speed)\(hasFlowControl ? ",rtscts" : "")"
    }
  }
}

extension USBSelector: CustomStringConvertible {
  /// The part of the text after `usb:`.
  public var description: String {
    let text =
      switch choice {
      case .index(let index): "\(index)"
      case .product(let vendor, let product, let index):
        productText(vendor, product) + (index == 0 ? "" : "#\(index)")
      case .serial(let vendor, let product, let serial): productText(vendor, product) + "/" + serial
      case .path(let path): path
      }
    return text + (isForced ? "!" : "")
  }
}

/// Returns vendor and product as `lsusb` prints them, in upper case: `0A12:0001`.
func productText(_ vendor: UInt16, _ product: UInt16) -> String {
  [vendor, product].map { $0.hex(digits: 4).uppercased() }.joined(separator: ":")
}

/// A suggestion for correct input.
private struct Hint: Error {
  var text: String
}

private typealias Parsed = Result<TransportSpec, Hint>

private func unknownKind(_ kind: String) -> Hint {
  let kinds = TransportSpec.kinds.map { $0 + ":" }.joined(separator: ", ")
  return Hint(text: "it starts with none of \(kinds)")
}

private func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

/// Parses a number of digits only: no sign, no spaces.
private func number<Number: FixedWidthInteger>(_ text: some StringProtocol, radix: Int = 10) -> Number? {
  guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else { return nil }
  return Number(text, radix: radix)
}

private func parseUSB(_ text: String) -> Parsed {
  let isForced = text.hasSuffix("!")
  let body = isForced ? String(text.dropLast()) : text
  let choice: USBSelector.Choice? =
    if let index: Int = number(body) {
      .index(index)
    } else if body.contains(":") {
      parseProduct(body)
    } else if isBusPath(body) {
      .path(body)
    } else {
      nil
    }
  guard let choice else {
    return .failure(
      Hint(text: "a dongle is usb:0, usb:0A12:0001, usb:0A12:0001#1, usb:0A12:0001/SERIAL or usb:1-2.3"))
  }
  return .success(.usb(USBSelector(choice, isForced: isForced)))
}

private func parseProduct(_ text: String) -> USBSelector.Choice? {
  let colon = text.firstIndex(of: ":")!
  let rest = text[text.index(after: colon)...]
  let end = rest.firstIndex { $0 == "/" || $0 == "#" } ?? rest.endIndex
  let ids = [text[..<colon], rest[..<end]]
  guard ids.allSatisfy({ $0.count <= 4 }), let vendor: UInt16 = number(ids[0], radix: 16),
    let product: UInt16 = number(ids[1], radix: 16)
  else { return nil }
  guard end < rest.endIndex else { return .product(vendor: vendor, product: product, index: 0) }
  let suffix = rest[rest.index(after: end)...]
  if rest[end] == "/" {
    return suffix.isEmpty ? nil : .serial(vendor: vendor, product: product, serial: String(suffix))
  }
  guard let index: Int = number(suffix) else { return nil }
  return .product(vendor: vendor, product: product, index: index)
}

private func parseAdapter(_ text: String) -> Parsed {
  let digits = text.hasPrefix("hci") ? text.dropFirst(3) : text[...]
  guard let index: UInt16 = number(digits), index < UInt16.max else {
    return .failure(Hint(text: "an adapter is its number: hci-socket:0 is hci0"))
  }
  return .success(.hciSocket(Int(index)))
}

private typealias Address = (host: String, port: UInt16)

private func parseAddress(_ text: String) -> Result<Address, Hint> {
  let hint = Hint(text: "after the kind come a host and a port, as in 127.0.0.1:6402 or [::1]:6402")
  guard let colon = text.lastIndex(of: ":") else { return .failure(hint) }
  var host = text[..<colon]
  if host.hasPrefix("["), host.hasSuffix("]") {
    host = host.dropFirst().dropLast()
  } else if host.contains(":") {
    return .failure(Hint(text: "an IPv6 address stands in brackets, as in [::1]:6402"))
  }
  guard !host.isEmpty else { return .failure(hint) }
  guard let port: UInt16 = number(text[text.index(after: colon)...]) else {
    return .failure(Hint(text: "a port is a number up to 65535"))
  }
  return .success((String(host), port))
}

private func client(_ address: Address) -> Parsed {
  guard address.host != "_" else {
    return .failure(Hint(text: "_ is every interface, where a server listens; a client needs a host"))
  }
  guard address.port > 0 else { return .failure(Hint(text: "nobody listens on port 0")) }
  return .success(.tcpClient(host: address.host, port: address.port))
}

private func parsePath(_ text: String) -> Parsed {
  guard !text.isEmpty, text != "@" else { return .failure(Hint(text: "the path of a socket is missing")) }
  guard text.utf8.count <= UnixSocket.longestPath else {
    return .failure(Hint(text: "the path of a Unix socket holds \(UnixSocket.longestPath) bytes"))
  }
  return .success(.unixClient(path: text))
}

private func parseSerial(_ text: String) -> Parsed {
  let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  guard !parts[0].isEmpty else {
    return .failure(Hint(text: "a serial line is a device and a speed, as in serial:/dev/ttyUSB0,115200"))
  }
  var speed = SerialPort.usualSpeed
  var hasFlowControl = false
  for part in parts.dropFirst() {
    if part == "rtscts" {
      hasFlowControl = true
    } else if let rate = Int(part), SerialPort.speeds.contains(where: { $0.rate == rate }) {
      speed = rate
    } else if Int(part) != nil {
      let rates = SerialPort.speeds.map { "\($0.rate)" }.joined(separator: ", ")
      return .failure(Hint(text: "\(part) is no speed of a serial line; there are \(rates)"))
    } else {
      return .failure(Hint(text: "after the speed only rtscts may follow, not '\(part)'"))
    }
  }
  return .success(.serial(path: parts[0], speed: speed, hasFlowControl: hasFlowControl))
}
