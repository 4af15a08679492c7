/// A procedure of a client while it runs: what it asks next, and what the answer means to it
/// (Core 5.4, Vol 3 Part G §4).
enum RunningProcedure: Sendable {
  case exchangingMTU(offered: UInt16)
  case searching(ServiceSearch)
  case discoveringServices(ServiceDiscovery)
  case discoveringCharacteristics(CharacteristicDiscovery)
  case discoveringDescriptors(DescriptorDiscovery)
  case reading(ValueReading)
  case writing(ValueWriting)

  init(_ procedure: GATTProcedure, offering offered: UInt16, mtu: Int) {
    switch procedure {
    case .exchangeMTU:
      self = .exchangingMTU(offered: offered)
    case .discoverServices(let uuid):
      self = .searching(ServiceSearch(for: uuid, isOneEnough: false))
    case .findService(let uuid):
      self = .searching(ServiceSearch(for: uuid, isOneEnough: true))
    case .discoverAllServices:
      self = .discoveringServices(ServiceDiscovery())
    case .discoverCharacteristics(let range, let wanted):
      self = .discoveringCharacteristics(CharacteristicDiscovery(in: range, wanted: wanted))
    case .discoverDescriptors(let range, let wanted):
      self = .discoveringDescriptors(DescriptorDiscovery(in: range, wanted: wanted))
    case .read(let handle):
      self = .reading(ValueReading(of: handle, mtu: mtu))
    case .write(let handle, let value):
      self = .writing(ValueWriting(value, to: handle, mtu: mtu))
    }
  }

  /// What to ask now.
  var request: ATTPacket {
    switch self {
    case .exchangingMTU(let offered): .exchangeMTURequest(offered)
    case .searching(let search): search.request
    case .discoveringServices(let discovery): discovery.request
    case .discoveringCharacteristics(let discovery): discovery.request
    case .discoveringDescriptors(let discovery): discovery.request
    case .reading(let reading): reading.request
    case .writing(let writing): writing.request
    }
  }

  /// Takes in an answer, or the failure in its place, and returns the result once the procedure is through.
  mutating func take(
    _ answer: Result<ATTPacket, GATTFailure>, mtu: Int
  ) throws(GATTFailure) -> GATTResult? {
    switch consume self {
    case .exchangingMTU(let offered):
      self = .exchangingMTU(offered: offered)
      return try agreedMTU(try answer.get(), offered)
    case .searching(var search):
      defer { self = .searching(search) }
      return try search.take(answer)
    case .discoveringServices(var discovery):
      defer { self = .discoveringServices(discovery) }
      return try discovery.take(answer)
    case .discoveringCharacteristics(var discovery):
      defer { self = .discoveringCharacteristics(discovery) }
      return try discovery.take(answer)
    case .discoveringDescriptors(var discovery):
      defer { self = .discoveringDescriptors(discovery) }
      return try discovery.take(answer)
    case .reading(var reading):
      defer { self = .reading(reading) }
      return try reading.take(answer, mtu: mtu)
    case .writing(var writing):
      defer { self = .writing(writing) }
      return try writing.take(answer, mtu: mtu)
    }
  }
}

private func agreedMTU(_ answer: ATTPacket, _ offered: UInt16) throws(GATTFailure) -> GATTResult {
  guard case .exchangeMTUResponse(let theirs) = answer else { throw .mismatch(answer) }
  guard theirs >= GATTLink.leastMTU else { throw .badAnswer("an MTU of \(theirs), below 23") }
  return .mtu(min(offered, theirs))
}

extension GATTFailure {
  /// A packet that is not the response to what was asked. ``ATTClient`` lets none through.
  static func mismatch(_ packet: ATTPacket) -> GATTFailure {
    .badAnswer("opcode \(hexadecimal(packet.opcode))")
  }
}
