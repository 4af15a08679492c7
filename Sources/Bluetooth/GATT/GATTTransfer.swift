/// Read Characteristic Value, continued as Read Long while responses are full (Core 5.4, Vol 3 Part G §4.8.1,
/// §4.8.3).
struct ValueReading: RunningProcedure {
  private let handle: AttributeHandle
  private var value: [UInt8] = []
  private var isFirst = true
  /// The length of a full response to the last request. The MTU may grow meanwhile.
  private var fullLength: Int

  init(of handle: AttributeHandle, mtu: Int) {
    precondition(handle.rawValue > 0, "no attribute has handle 0")
    self.handle = handle
    fullLength = mtu - 1
  }

  var request: ATTPacket {
    isFirst ? .readRequest(handle) : .readBlobRequest(handle, offset: UInt16(value.count))
  }

  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    let part: [UInt8]
    switch answer {
    case .success(.readResponse(let bytes)), .success(.readBlobResponse(let bytes)): part = bytes
    case .success(let other): throw .mismatch(other)
    // A server may respond so if the first response was exactly full (§4.8.3).
    case .failure(.refused(.attributeNotLong, _)) where !isFirst: part = []
    case .failure(let failure): throw failure
    }
    guard part.count < mtu else { throw .badAnswer("\(part.count) bytes in a packet of \(mtu)") }
    isFirst = false
    value += part
    guard value.count <= GATTDatabase.valueLimit else { throw .badAnswer("a value longer than 512 bytes") }
    guard part.count >= fullLength, value.count < GATTDatabase.valueLimit else { return .value(value) }
    fullLength = mtu - 1
    return nil
  }
}

/// Write Characteristic Value, or Write Long in parts whose echo is compared (Core 5.4, Vol 3 Part G §4.9.3, §4.9.4).
///
///     writing the whole
///     preparing ──every part was echoed──▶ executing
///         │ a wrong echo, or a refusal once something was prepared
///         ▼
///     cancelling
struct ValueWriting: RunningProcedure {
  private enum Step {
    case whole
    case preparing(Range<Int>)
    case executing
    case cancelling(GATTFailure)
  }

  private let handle: AttributeHandle
  private let value: [UInt8]
  private var step: Step

  init(_ value: [UInt8], to handle: AttributeHandle, mtu: Int) {
    precondition(handle.rawValue > 0, "no attribute has handle 0")
    precondition(value.count <= GATTDatabase.valueLimit, "no value is longer than 512 bytes")
    self.handle = handle
    self.value = value
    step = value.count <= mtu - 3 ? .whole : .preparing(0..<min(value.count, mtu - 5))
  }

  var request: ATTPacket {
    switch step {
    case .whole: .writeRequest(handle, value)
    case .preparing(let part):
      .prepareWriteRequest(handle, offset: UInt16(part.lowerBound), Array(value[part]))
    case .executing: .executeWriteRequest(true)
    case .cancelling: .executeWriteRequest(false)
    }
  }

  mutating func take(_ answer: Result<ATTPacket, GATTFailure>, mtu: Int) throws(GATTFailure) -> GATTResult? {
    switch step {
    case .whole, .executing:
      _ = try answer.get()
      return .written
    case .preparing(let part):
      step = try following(part, answer, mtu: mtu)
      return nil
    case .cancelling(let failure):
      throw failure
    }
  }

  private func following(
    _ part: Range<Int>, _ answer: Result<ATTPacket, GATTFailure>, mtu: Int
  ) throws(GATTFailure) -> Step {
    switch answer {
    case .failure(.refused(let code, let refused)) where part.lowerBound == 0:
      // The queue is empty, so that nothing needs to be cancelled.
      throw .refused(code, refused)
    case .failure(let failure):
      return .cancelling(failure)
    case .success(.prepareWriteResponse(handle, offset: UInt16(part.lowerBound), Array(value[part]))):
      let end = part.upperBound
      return end == value.count ? .executing : .preparing(end..<min(value.count, end + mtu - 5))
    case .success:
      return .cancelling(.badAnswer("what was prepared at \(part.lowerBound) came back different"))
    }
  }
}
