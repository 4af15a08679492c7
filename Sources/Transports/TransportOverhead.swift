import System
import Bluetooth
import Glibc
public import Basics

/// The duration of a command over a transport and over a plain socket, to the same controller in another process.
public struct TransportOverhead: Equatable, Sendable {
  /// The duration of a command and its response over a transport, including encoding and decoding.
  public var transport: Interval
  /// The duration over a plain socket, which only inspects the length of the response.
  public var socket: Interval

  /// Measures both alternately.
  ///
  /// - Parameters:
  ///   - server: a program and its arguments. It serves a controller to one peer after the other, and prints its
  ///     address on the first line: `tcp-server:127.0.0.1:PORT`.
  ///   - rounds: the number of measurements; the minimum counts.
  ///   - commands: the number of commands in a measurement.
  /// - Returns: the durations, or `nil` if the measurement failed.
  public static func measure(server: [String], rounds: Int, commands: Int) -> TransportOverhead? {
    let words = server.map(shellWord).joined(separator: " ")
    guard let program = try? ChildProcess(command: "exec " + words) else { return nil }
    defer { program.stop(grace: .zero) }
    guard case .line(let words) = program.nextLine(until: MonotonicClock.now + .seconds(10)),
      let port = port(in: words)
    else { return nil }
    var minimum: TransportOverhead?
    for _ in 0..<rounds {
      guard let socket = try? overSocket(port, commands), let transport = try? overTransport(port, commands)
      else {
        return nil
      }
      minimum = TransportOverhead(
        transport: min(transport, minimum?.transport ?? transport),
        socket: min(socket, minimum?.socket ?? socket)
      )
    }
    return minimum
  }

  private static func port(in words: [UInt8]) -> UInt16? {
    let place = "tcp-server:127.0.0.1:"
    return String(decoding: words, as: UTF8.self).split(separator: " ")
      .first { $0.hasPrefix(place) }.flatMap { UInt16($0.dropFirst(place.count)) }
  }

  private static let host = "127.0.0.1"
  private static let command = HCICommand.readLocalVersionInformation()
}

// MARK: - Measurements

extension TransportOverhead {
  private static func overTransport(_ port: UInt16, _ commands: Int) throws(TransportFault) -> Interval {
    let transport = try Transport(opening: .tcpClient(host: host, port: port))
    defer { transport.close() }
    try exchange(.reset(), over: transport)
    let start = transport.now
    for _ in 0..<commands { try exchange(command, over: transport) }
    return Interval(nanoseconds: (transport.now - start).nanoseconds / Int64(commands))
  }

  private static func exchange(_ command: HCICommand, over transport: Transport) throws(TransportFault) {
    try transport.send(command.packet)
    guard case .event(let code, let parameters)? = try transport.receive(until: transport.now + .seconds(2)),
      case .commandComplete(_, command.opcode, _)? = try? HCIEvent(code: code, parameters: parameters)
    else { throw TransportFault(.silent, "no answer to a command") }
  }

  private static func overSocket(_ port: UInt16, _ commands: Int) throws(TransportFault) -> Interval {
    let ends = try TCP.connect(to: host, port: port, name: "the controller", until: Waiting.now + .seconds(2))
    defer { Kernel.close(ends.peer) }
    Kernel.fcntl(ends.peer, F_SETFL, 0)
    try exchange(HCICommand.reset().packet.h4, over: ends.peer)
    let octets = command.packet.h4
    let start = MonotonicClock.now
    for _ in 0..<commands { try exchange(octets, over: ends.peer) }
    return Interval(nanoseconds: (MonotonicClock.now - start).nanoseconds / Int64(commands))
  }

  private static func exchange(_ octets: [UInt8], over socket: Int32) throws(TransportFault) {
    guard unsafe Kernel.send(socket, octets, octets.count, Int32(MSG_NOSIGNAL)) == octets.count else {
      throw TransportFault(.lost, "the controller takes nothing")
    }
    // Three octets precede the parameters of an event: the H4 indicator, the event code and the length.
    var event = [UInt8](repeating: 0, count: 3 + 255)
    var count = 0
    while count < 3 || count < 3 + Int(event[2]) {
      let read = unsafe event.withUnsafeMutableBytes {
        unsafe Kernel.recv(socket, $0.baseAddress! + count, $0.count - count, 0)
      }
      guard read > 0 else { throw TransportFault(.lost, "the controller hung up") }
      count += read
    }
  }
}
