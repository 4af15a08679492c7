/// A running procedure of a client, which determines the requests and interprets the responses (Core 5.4, Vol
/// 3 Part G §4).
protocol RunningProcedure: Sendable {
  /// The next request.
  var request: ATTPacket { get }

  /// Receives a response, or a failure, and returns the result once the procedure is complete.
  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult?
}

extension GATTProcedure {
  /// The procedure at its beginning.
  func begun(offering offered: UInt16, mtu: Int) -> any RunningProcedure {
    switch self {
    case .exchangeMTU: MTUExchange(offered: offered)
    case .discoverServices(let uuid): ServiceSearch(for: uuid, endsWithFirst: false)
    case .findService(let uuid): ServiceSearch(for: uuid, endsWithFirst: true)
    case .discoverAllServices: ServiceDiscovery()
    case .discoverCharacteristics(let range, let wanted): CharacteristicDiscovery(in: range, wanted: wanted)
    case .discoverDescriptors(let range, let wanted): DescriptorDiscovery(in: range, wanted: wanted)
    case .read(let handle): ValueReading(of: handle, mtu: mtu)
    case .write(let handle, let value): ValueWriting(value, to: handle, mtu: mtu)
    }
  }
}

/// Exchange MTU (Core 5.4, Vol 3 Part G §4.3.1).
private struct MTUExchange: RunningProcedure {
  let offered: UInt16

  var request: ATTPacket { .exchangeMTURequest(offered) }

  func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    let answer = try answer.get()
    guard case .exchangeMTUResponse(let theirs) = answer else { throw .mismatch(answer) }
    // An MTU that is too small changes nothing (Vol 3 Part F §3.4.2.2).
    return .mtu(max(GATTLink.minimumMTU, min(offered, theirs)))
  }
}

extension GATTFailure {
  /// The failure for a packet that is not the response to the request; ``ATTClient`` rejects these.
  static func mismatch(_ packet: ATTPacket) -> GATTFailure {
    .badAnswer("opcode \(hexadecimal(packet.opcode))")
  }
}
