/// The progress of a discovery. Handles must increase from response to response, so that every discovery
/// ends, whatever a server sends.
struct HandleCursor: Sendable {
  private var next: Int
  private let last: Int

  init(_ range: AttributeRange) {
    precondition(range.first.rawValue > 0, "no attribute has handle 0")
    next = Int(range.first.rawValue)
    last = Int(range.last.rawValue)
  }

  /// Whether there is nothing left to ask for.
  var isAtEnd: Bool { next > last }

  /// The remaining range; not at the end.
  var rest: AttributeRange {
    AttributeRange(AttributeHandle(rawValue: UInt16(next)), AttributeHandle(rawValue: UInt16(last)))
  }

  /// Continues after a range.
  mutating func pass(_ range: AttributeRange) throws(GATTFailure) {
    guard range.first <= range.last else {
      throw .badAnswer("handles from \(range.first) to \(range.last)")
    }
    guard range.first.rawValue >= next, range.last.rawValue <= last else {
      let left = isAtEnd ? "nothing" : "\(rest.first) to \(rest.last)"
      throw .badAnswer("handle \(range.first) up to \(range.last), where \(left) was left")
    }
    next = Int(range.last.rawValue) + 1
  }
}

/// Discover Primary Service by Service UUID (Core 5.4, Vol 3 Part G §4.4.2).
struct ServiceSearch: RunningProcedure {
  private let wanted: BluetoothUUID
  /// Whether it ends with the first response.
  private let endsWithFirst: Bool
  private var cursor = HandleCursor(.all)
  private var found: [DiscoveredService] = []

  init(for wanted: BluetoothUUID, endsWithFirst: Bool) {
    self.wanted = wanted
    self.endsWithFirst = endsWithFirst
  }

  var request: ATTPacket {
    .findByTypeValueRequest(cursor.rest, type: 0x2800, value: wanted.littleEndian)
  }

  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    guard let answer = try answer.unlessNotFound() else { return .services(found) }
    guard case .findByTypeValueResponse(let ranges) = answer else { throw .mismatch(answer) }
    guard !ranges.isEmpty else { throw .badAnswer("an empty list") }
    for range in ranges {
      try cursor.pass(range)
      found.append(DiscoveredService(uuid: wanted, range: range))
      if endsWithFirst { return .services(found) }
    }
    return cursor.isAtEnd ? .services(found) : nil
  }
}

/// Discover All Primary Services (Core 5.4, Vol 3 Part G §4.4.1).
struct ServiceDiscovery: RunningProcedure {
  private var cursor = HandleCursor(.all)
  private var found: [DiscoveredService] = []

  var request: ATTPacket { .readByGroupTypeRequest(cursor.rest, type: .primaryService) }

  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    guard let answer = try answer.unlessNotFound() else { return .services(found) }
    guard case .readByGroupTypeResponse(let length, let list) = answer else { throw .mismatch(answer) }
    for entry in try entries(of: list, length, allowed: [6, 20]) {
      let range = AttributeRange(entry.handle(at: 0), entry.handle(at: 2))
      try cursor.pass(range)
      found.append(DiscoveredService(uuid: try entry.uuid(from: 4), range: range))
    }
    return cursor.isAtEnd ? .services(found) : nil
  }
}

/// Discover All Characteristics of a Service (Core 5.4, Vol 3 Part G §4.6.1).
struct CharacteristicDiscovery: RunningProcedure {
  private var cursor: HandleCursor
  private let isPartial: Bool
  private var wanted: [BluetoothUUID]
  private var found: [DiscoveredCharacteristic] = []

  init(in range: AttributeRange, wanted: [BluetoothUUID]) {
    cursor = HandleCursor(range)
    isPartial = !wanted.isEmpty
    self.wanted = wanted
  }

  var request: ATTPacket { .readByTypeRequest(cursor.rest, type: .characteristic) }

  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    guard let answer = try answer.unlessNotFound() else { return .characteristics(found) }
    guard case .readByTypeResponse(let length, let list) = answer else { throw .mismatch(answer) }
    for entry in try entries(of: list, length, allowed: [7, 21]) {
      let (declaration, value) = (entry.handle(at: 0), entry.handle(at: 3))
      guard declaration < value else { throw .badAnswer("value \(value) of characteristic \(declaration)") }
      try cursor.pass(AttributeRange(declaration, value))
      let uuid = try entry.uuid(from: 5)
      wanted.removeAll { $0 == uuid }
      let properties = CharacteristicProperties(rawValue: entry[entry.startIndex + 2])
      found.append(
        DiscoveredCharacteristic(uuid: uuid, properties: properties, declaration: declaration, value: value))
    }
    // Skipping needless requests saves air time.
    return cursor.isAtEnd || isPartial && wanted.isEmpty ? .characteristics(found) : nil
  }
}

/// Discover All Characteristic Descriptors (Core 5.4, Vol 3 Part G §4.7.1).
struct DescriptorDiscovery: RunningProcedure {
  private var cursor: HandleCursor
  private let wanted: BluetoothUUID?
  private var found: [DiscoveredDescriptor] = []

  init(in range: AttributeRange, wanted: BluetoothUUID?) {
    cursor = HandleCursor(range)
    self.wanted = wanted
  }

  var request: ATTPacket { .findInformationRequest(cursor.rest) }

  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    guard let answer = try answer.unlessNotFound() else { return .descriptors(found) }
    guard case .findInformationResponse(let format, let list) = answer else { throw .mismatch(answer) }
    let length: UInt8
    switch format {
    case 1: length = 4
    case 2: length = 18
    case let other: throw .badAnswer("format \(other)")
    }
    for entry in try entries(of: list, length, allowed: [length]) {
      let handle = entry.handle(at: 0)
      try cursor.pass(AttributeRange(handle, handle))
      found.append(DiscoveredDescriptor(uuid: try entry.uuid(from: 2), handle: handle))
    }
    let isFound = wanted.map { wanted in found.contains { $0.uuid == wanted } } ?? false
    return cursor.isAtEnd || isFound ? .descriptors(found) : nil
  }
}

extension Result<ATTPacket, GATTFailure> {
  /// The response; `nil` if there are no more attributes, with which every discovery ends.
  fileprivate func unlessNotFound() throws(GATTFailure) -> ATTPacket? {
    switch self {
    case .success(let answer): answer
    case .failure(.refused(.attributeNotFound, _)): nil
    case .failure(let failure): throw failure
    }
  }
}

/// Cuts a list into its entries.
private func entries(
  of list: [UInt8], _ length: UInt8, allowed: [UInt8]
) throws(GATTFailure) -> [ArraySlice<UInt8>] {
  guard allowed.contains(length) else { throw .badAnswer("entries of \(length) bytes") }
  let length = Int(length)
  guard !list.isEmpty, list.count.isMultiple(of: length) else {
    throw .badAnswer("\(list.count) bytes of entries of \(length)")
  }
  return stride(from: 0, to: list.count, by: length).map { list[$0..<$0 + length] }
}

extension ArraySlice<UInt8> {
  fileprivate func handle(at offset: Int) -> AttributeHandle {
    let index = startIndex + offset
    return AttributeHandle(rawValue: UInt16(self[index]) | UInt16(self[index + 1]) << 8)
  }

  fileprivate func uuid(from offset: Int) throws(GATTFailure) -> BluetoothUUID {
    do throws(DecodeError) {
      return try BluetoothUUID(littleEndian: Array(dropFirst(offset)))
    } catch {
      throw .badAnswer(error.description)
    }
  }
}
