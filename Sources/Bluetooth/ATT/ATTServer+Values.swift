/// Reading values one by one (Core 5.4, Vol 3 Part F §3.4.4).
extension ATTServer {
  func read(_ handle: AttributeHandle, _ database: GATTDatabase, mtu: Int) throws(ATTRefusal) -> ATTPacket {
    let content = try content(of: handle, database)
    return .readResponse(Array(content.prefix(mtu - 1)))
  }

  func readBlob(
    _ handle: AttributeHandle, offset: Int, _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    let content = try content(of: handle, database)
    guard offset <= content.count else { throw ATTRefusal(.invalidOffset, handle) }
    return .readBlobResponse(Array(content.dropFirst(offset).prefix(mtu - 1)))
  }

  func readMultiple(
    _ handles: [AttributeHandle], _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    guard handles.count >= 2 else { throw ATTRefusal(.invalidPDU, AttributeHandle(rawValue: 0)) }
    var values: [UInt8] = []
    for handle in handles {
      // Values that no longer fit are checked, too.
      let content = try content(of: handle, database)
      values += content.prefix(mtu - 1 - values.count)
    }
    return .readMultipleResponse(values)
  }

  /// The value that the client would read.
  func content(at index: Int, _ database: GATTDatabase) throws(ATTRefusal) -> [UInt8] {
    switch database.attributes[index].role {
    case .service, .characteristic:
      return database.attributes[index].value
    case .value(let properties, _):
      guard properties.contains(.read) else {
        throw ATTRefusal(.readNotPermitted, AttributeHandle(index: index))
      }
      return database.attributes[index].value
    case .configuration(_, _, let slot):
      let bits = subscription(in: slot).rawValue
      return [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]
    }
  }

  private func content(of handle: AttributeHandle, _ database: GATTDatabase) throws(ATTRefusal) -> [UInt8] {
    guard let index = database.index(of: handle) else { throw ATTRefusal(.invalidHandle, handle) }
    return try content(at: index, database)
  }
}

/// Writing (Core 5.4, Vol 3 Part F §3.4.5, §3.4.6).
extension ATTServer {
  /// Writes at once, if the property permits it; `nil` if no event follows from it.
  mutating func write(
    _ value: [UInt8], to handle: AttributeHandle, by property: CharacteristicProperties,
    _ database: inout GATTDatabase
  ) throws(ATTRefusal) -> GATTEvent? {
    let write = try checked(value, of: handle, by: property, database)
    return commit(write.value, at: write.index, &database)
  }

  /// A write that can be made.
  func checked(
    _ value: [UInt8], of handle: AttributeHandle, by property: CharacteristicProperties,
    _ database: GATTDatabase
  ) throws(ATTRefusal) -> HeldWrite.Part {
    let index = try writable(handle, by: property, database)
    try check(value, at: index, database)
    return (index, value)
  }

  mutating func prepare(
    _ part: [UInt8], at offset: UInt16, of handle: AttributeHandle, _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) {
    let index = try writable(handle, by: .write, database)
    // The echo is as long as the request, and must not be longer than a packet even where that was.
    guard part.count <= mtu - 5 else { throw ATTRefusal(.invalidPDU, handle) }
    guard prepared.count < ATTServer.preparedLimit else { throw ATTRefusal(.prepareQueueFull, handle) }
    prepared.append(PreparedWrite(index: index, offset: Int(offset), part: part))
  }

  /// Empties the queue, and returns the values to write. Each part ends its value where the part ends, like a
  /// whole write. If one of them cannot be written, none is.
  mutating func takePrepared(
    _ isWritten: Bool, _ database: GATTDatabase
  ) throws(ATTRefusal) -> [HeldWrite.Part] {
    let parts = prepared
    prepared = []
    guard isWritten else { return [] }
    var results: [HeldWrite.Part] = []
    for part in parts {
      let known = results.firstIndex { $0.index == part.index }
      let value = known.map { results[$0].value } ?? current(at: part.index, database)
      guard part.offset <= value.count else {
        throw ATTRefusal(.invalidOffset, AttributeHandle(index: part.index))
      }
      guard part.offset + part.part.count <= GATTDatabase.valueLimit else {
        throw ATTRefusal(.invalidValueLength, AttributeHandle(index: part.index))
      }
      let written = value.prefix(part.offset) + part.part
      if let known {
        results[known].value = Array(written)
      } else {
        results.append((part.index, Array(written)))
      }
    }
    for result in results { try check(result.value, at: result.index, database) }
    return results
  }

  /// The value of an attribute, whether or not the client may read it.
  private func current(at index: Int, _ database: GATTDatabase) -> [UInt8] {
    switch database.attributes[index].role {
    case .configuration(_, _, let slot): [UInt8(truncatingIfNeeded: subscription(in: slot).rawValue), 0]
    case .service, .characteristic, .value: database.attributes[index].value
    }
  }

  private func writable(
    _ handle: AttributeHandle, by property: CharacteristicProperties, _ database: GATTDatabase
  ) throws(ATTRefusal) -> Int {
    guard let index = database.index(of: handle) else { throw ATTRefusal(.invalidHandle, handle) }
    switch database.attributes[index].role {
    case .configuration:
      return index
    case .value(let properties, _) where properties.contains(property):
      return index
    case .value, .service, .characteristic:
      throw ATTRefusal(.writeNotPermitted, handle)
    }
  }

  /// Whether a value can be stored where it may be written.
  private func check(_ value: [UInt8], at index: Int, _ database: GATTDatabase) throws(ATTRefusal) {
    let handle = AttributeHandle(index: index)
    switch database.attributes[index].role {
    case .configuration(_, let allowed, _):
      guard value.count == 2 else { throw ATTRefusal(.invalidValueLength, handle) }
      guard allowed.isSuperset(of: Subscription(value)) else {
        throw ATTRefusal(.improperConfiguration, handle)
      }
    case .value, .service, .characteristic:
      guard value.count <= GATTDatabase.valueLimit else { throw ATTRefusal(.invalidValueLength, handle) }
    }
  }

  /// Stores a checked value.
  private mutating func commit(_ value: [UInt8], at index: Int, _ database: inout GATTDatabase) -> GATTEvent?
  {
    switch database.attributes[index].role {
    case .configuration(let handle, _, let slot):
      let subscription = Subscription(value)
      return subscribe(subscription, in: slot) ? .subscribed(handle, subscription) : nil
    case .value, .service, .characteristic:
      database.write(value, at: index)
      return .written(AttributeHandle(index: index), value)
    }
  }
}

/// A write request that can be made and is not answered yet.
struct HeldWrite: Sendable {
  /// An attribute, and its new value.
  typealias Part = (index: Int, value: [UInt8])

  let request: ATTPacket
  let parts: [Part]
  /// The number of decided parts.
  var settled = 0
}

/// Writes that the user of the host confirms or refuses.
extension ATTServer {
  /// Makes writes and answers them; held ones, after the user of the host has decided about each value.
  mutating func make(
    _ request: ATTPacket, _ parts: [HeldWrite.Part], _ database: inout GATTDatabase
  ) -> [GATTLink.Action] {
    held = HeldWrite(request: request, parts: parts)
    return reportNextPart(&database)
  }

  /// Receives the decision on the reported write: the value is written, or the request is refused.
  mutating func completeWrite(_ error: ATTErrorCode?, _ database: inout GATTDatabase) -> [GATTLink.Action] {
    guard let write = held else { return [] }
    if let error {
      held = nil
      let handle = AttributeHandle(index: write.parts[write.settled].index)
      return [.transmit(.errorResponse(request: write.request.opcode, handle, error))]
    }
    held?.settled += 1
    return reportNextPart(&database)
  }

  private mutating func reportNextPart(_ database: inout GATTDatabase) -> [GATTLink.Action] {
    guard let write = held else { return [] }
    if holdsWrites {
      for number in write.parts.indices.dropFirst(write.settled) {
        let (index, value) = write.parts[number]
        // Subscriptions are the client's own and need no confirmation.
        guard case .value = database.attributes[index].role else { continue }
        held?.settled = number
        return [.report(.written(AttributeHandle(index: index), value))]
      }
    }
    held = nil
    let events = write.parts.compactMap { commit($0.value, at: $0.index, &database) }
    var response = ATTPacket.writeResponse
    if case .executeWriteRequest = write.request { response = .executeWriteResponse }
    return [.transmit(response)]
      + events.compactMap { event in
        // A held write was reported before.
        if case .written = event, holdsWrites { nil } else { .report(event) }
      }
  }
}

extension Subscription {
  /// Reads the two bytes of a configuration; all but two bits are reserved, and ignored.
  fileprivate init(_ bytes: [UInt8]) {
    self.init(rawValue: (UInt16(bytes[0]) | UInt16(bytes[1]) << 8) & Self.all.rawValue)
  }

  private static let all: Subscription = [.notifications, .indications]
}
