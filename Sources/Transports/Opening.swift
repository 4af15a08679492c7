import System
import Bluetooth
import Basics

/// Opens a transport to a controller, with everything needed for that.
struct Opening {
  /// The result of opening.
  struct Opened {
    var line: any Line
    var lock: EndpointLock?
    var dongle: USBDongle?
  }

  var spec: TransportSpec
  var settings: TransportSettings
  /// The lock from a previous opening, which is still held.
  var held: EndpointLock?
  /// The dongle of a previous opening: the same one must be opened again, regardless of what else is plugged in.
  var known: USBDongle?
  /// Whether to reset a dongle.
  var isReset: Bool
  var limit: Instant
}

extension Opening {
  func open() throws(TransportFault) -> Opened {
    switch spec {
    case .usb(let selector):
      return try openDongle(selector)
    case .hciSocket(let adapter):
      let lock = try lock("hci\(adapter)")
      return opened(try UserChannel.open(adapter, name: name), lock)
    case .tcpClient(let host, let port):
      return opened(try TCP.connect(to: host, port: port, name: name, until: limit))
    case .tcpServer(let host, let port):
      return opened(try TCP.listen(on: host, port: port, name: name))
    case .unixClient(let path):
      return opened(try UnixSocket.connect(to: path, name: name, until: limit))
    case .serial(let path, let speed, let hasFlowControl):
      let lock = try lock("serial" + (realPath(path) ?? path))
      let ends = try SerialPort.open(path, speed: speed, hasFlowControl: hasFlowControl, name: name)
      return opened(ends, lock)
    }
  }

  private var name: String { "\(spec)" }

  private func opened(_ ends: DescriptorLine.Ends, _ lock: EndpointLock? = nil) -> Opened {
    Opened(line: DescriptorLine(ends, name: name, settings: settings), lock: lock)
  }

  private func openDongle(_ selector: USBSelector) throws(TransportFault) -> Opened {
    let context = try USBContext()
    let dongles = USBDongle.all(context, isForced: selector.isForced)
    let picked = known.map { $0.match(in: dongles) } ?? USBDongle.pick(selector, from: dongles)
    guard let picked else {
      throw TransportFault(.unavailable, "\(name) is not plugged in; \(alternatives(among: dongles))")
    }
    let lock = try lock("usb-" + picked.path)
    let line = try USBLine(picked, context, name: name, settings: settings, isReset: isReset)
    return Opened(line: line, lock: lock, dongle: picked)
  }

  /// Lists the dongles that are available instead.
  private func alternatives(among dongles: [USBDongle]) -> String {
    guard !dongles.isEmpty else { return "no Bluetooth dongle is" }
    return "there is "
      + dongles.map { "usb:\($0.path) (\(productText($0.vendor, $0.product)))" }.joined(separator: ", ")
  }

  private func lock(_ endpoint: String) throws(TransportFault) -> EndpointLock {
    if let held, held.endpoint == endpoint { return held }
    return try EndpointLock(endpoint, in: settings.lockFolder ?? TransportSettings.usualLockFolder)
  }
}
