/// A correctly sealed but meaningless request: a hostile client with the key could send it. A correct lock
/// refuses or ignores it, and otherwise behaves as if it had not been sent.
public enum UndefinedRequest: String, CaseIterable, Sendable {
  case empty
  case unknownItem = "unknown-item"
  case unknownOperation = "unknown-operation"
  /// A message that only locks send: a status.
  case publish
  case login
  case registration
  case identity
  /// A tag length that no tag has.
  case tagTooLong = "tag-too-long"
  /// A tag length beyond the message.
  case tagBeyondEnd = "tag-beyond-end"
  /// Extra bytes after the tag.
  case tagAndMore = "tag-and-more"
  case autolockShort = "autolock-short"
  case autolockNegative = "autolock-negative"
  case settingShort = "setting-short"
  /// Two equal positions.
  case settingEqual = "setting-equal"
  case timeShort = "time-short"
  /// The first moment of Unix time; only this one and the next may be obeyed.
  case timeZero = "time-0"
  case timeMost = "time-ffffffff"
  case historyShort = "history-short"
  /// The deletion of a record that does not exist.
  case recordUnknown = "record-unknown"
  /// An unlock with the operation *read*.
  case readUnlock = "read-unlock"
  /// An unknown item whose ciphertext fills three frames exactly.
  case threeFrames = "three-frames"
  /// The same with four frames: as long as the longest message to a lock, a login of OS2.
  case fourFrames = "four-frames"
}

extension UndefinedRequest {
  /// Whether a lock may report success.
  var mayBeObeyed: Bool { self == .timeZero || self == .timeMost }

  /// The request in the form of a generation.
  func request(for generation: Generation) -> [UInt8] {
    let isOS2 = generation == .os2
    func bytes(_ operation: OpCode, _ item: ItemCode, _ data: [UInt8] = []) -> [UInt8] {
      Request(isOS2 ? operation : nil, item, data).encoded
    }
    let emptyTag = isOS2 ? [UInt8](repeating: 0, count: 1 + HistoryTag.os2Capacity) : []
    switch self {
    case .empty: return []
    case .unknownItem: return bytes(.update, ItemCode(rawValue: 0xFA))
    case .unknownOperation: return bytes(OpCode(rawValue: 0x63), isOS2 ? .unlock : ItemCode(rawValue: 0xFB))
    case .publish: return [OpCode.publish.rawValue, ItemCode.mechStatus.rawValue] + emptyTag
    case .login: return bytes(.sync, .login, [1, 2, 3, 4])
    case .registration: return bytes(.create, .registration, [UInt8](repeating: 1, count: 68))
    case .identity: return bytes(.read, .identity)
    case .tagTooLong: return bytes(.async, .unlock, [255] + emptyTag)
    case .tagBeyondEnd: return bytes(.async, .unlock, [21, 0x41])
    case .tagAndMore: return bytes(.async, .unlock, (isOS2 ? emptyTag : [1, 0x41]) + [0xFF])
    case .autolockShort: return bytes(.update, .autolock, [1])
    case .autolockNegative: return bytes(.update, .autolock, [0xFF, 0xFF] + emptyTag)
    case .settingShort: return bytes(.update, .mechSetting, [0, 0])
    case .settingEqual:
      return bytes(.update, .mechSetting, [UInt8](repeating: 0, count: isOS2 ? 12 : 4) + emptyTag)
    case .timeShort: return bytes(.update, isOS2 ? .timeWithoutSignature : .time, [1, 2, 3])
    case .timeZero: return LockCommand.setTime(0).encoded(for: generation)
    case .timeMost: return LockCommand.setTime(.max).encoded(for: generation)
    case .historyShort: return bytes(.read, .history)
    case .recordUnknown: return bytes(.delete, .historyDelete, [0xFF, 0xFF, 0xFF, 0xFF])
    // OS3 has no operations: there it is a login that does not decode.
    case .readUnlock: return [OpCode.read.rawValue, ItemCode.unlock.rawValue] + emptyTag
    case .threeFrames: return filled(bytes(.update, ItemCode(rawValue: 0xFA)), frames: 3)
    case .fourFrames: return filled(bytes(.update, ItemCode(rawValue: 0xFA)), frames: 4)
    }
  }

  /// A request padded with zeros, so that its ciphertext fills a number of frames.
  private func filled(_ request: [UInt8], frames: Int) -> [UInt8] {
    let length = frames * (Segmenter.defaultFrameSize - 1) - SessionCipher.tagLength
    return request + [UInt8](repeating: 0, count: length - request.count)
  }
}
