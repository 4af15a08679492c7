import Bluetooth

/// Joins frames to messages, like one of the known implementations.
///
/// The implementations differ for frames that a correct sender does not send, and a peer that is tested with
/// such frames must be judged by the implementation that it represents. The iOS client is the reference.
///
///                         first frame                last frame
///     between messages ──────────────▶ gathering ───────────────▶ between messages
///                                      │      ▲
///                                      └──────┘ first frame: start again; middle frame: append
public struct Reassembler: Sendable {
  /// The implementation whose receiver is reproduced.
  public enum Policy: String, CaseIterable, Hashable, Sendable {
    /// The vendor's SDK for iOS.
    case ios
    /// The vendor's SDK for Android.
    case android
    /// The vendor's SDK for the ESP32.
    case esp32
    /// libsesame3bt, client and server.
    case libsesame3bt
    /// gomalock.
    case gomalock
    /// pysesameos2.
    case pysesameos2
  }

  /// The result of a frame.
  public enum Outcome: Hashable, Sendable {
    /// The message is incomplete.
    case incomplete
    /// The frame ended a message.
    case message(SegmentedMessage)
    /// The implementation ignores the frame.
    case ignored(Reason)
    /// The implementation throws, or overruns its buffer.
    case failed(Reason)
  }

  /// Why a frame had no effect.
  public enum Reason: Hashable, Sendable {
    /// The frame has no header byte.
    case empty
    /// The frame has only a header.
    case headerOnly
    /// The header's kind is unknown to the implementation.
    case unknownKind(UInt8)
    /// A continuation frame of a message that never began. An encrypted one still advances the counter of the
    /// implementation's cipher, which breaks the session.
    case unexpected(advancesCounter: Bool)
    /// The message exceeded the implementation's limit.
    case tooLong
  }

  private enum State: Sendable {
    /// Nothing was received yet: a continuation frame is treated as a first frame.
    case fresh
    /// A message is complete; its bytes remain in the buffer.
    case finished
    case gathering
    /// Frames are ignored until a first frame.
    case skipping
  }

  /// The implementation whose receiver is reproduced.
  public let policy: Policy
  /// The maximum length of a message, in bytes.
  public let limit: Int

  private var state = State.fresh
  private var buffer: [UInt8] = []

  /// Makes a receiver. The limit protects from a peer that never ends its message, if the implementation
  /// itself has no lower one.
  public init(policy: Policy = .ios, limit: Int = 65_535) {
    self.policy = policy
    self.limit = min(limit, policy.limit)
  }

  /// Receives a frame.
  public mutating func receive(_ frame: [UInt8]) -> Outcome {
    guard let first = frame.first else {
      return policy.failsOnEmpty ? .failed(.empty) : .ignored(.empty)
    }
    if frame.count == 1, policy == .libsesame3bt { return .ignored(.headerOnly) }
    let header = SegmentHeader(rawValue: first)
    let ending: MessageKind?
    switch policy.ending(header) {
    case .continues: ending = nil
    case .ends(let kind): ending = kind
    case .unknown where policy == .libsesame3bt: return .ignored(.unknownKind(header.field))
    case .unknown: return .failed(.unknownKind(header.field))
    }
    return append(frame, isFirst: header.isFirst, ending: ending)
  }

  /// Whether a message is incomplete.
  var isGathering: Bool { state == .gathering }

  /// Whether the rest of an overlong message is ignored.
  var isSkipping: Bool { state == .skipping }

  /// Discards the incomplete message, as a new connection does in libsesame3bt; the vendor's SDKs do not.
  public mutating func reset() {
    state = .fresh
    buffer = []
  }

  private mutating func append(_ frame: [UInt8], isFirst: Bool, ending: MessageKind?) -> Outcome {
    switch (isFirst, state) {
    case (true, _):
      buffer.removeAll(keepingCapacity: true)
    case (false, .skipping):
      return .ignored(.tooLong)
    case (false, .finished) where policy == .libsesame3bt:
      return .ignored(.unexpected(advancesCounter: ending == .ciphertext))
    case (false, .finished), (false, .fresh), (false, .gathering):
      break
    }
    guard buffer.count + frame.count - 1 <= limit else {
      buffer = []
      state = .skipping
      return policy == .esp32 ? .failed(.tooLong) : .ignored(.tooLong)
    }
    guard let ending else {
      buffer.append(contentsOf: frame.dropFirst())
      state = .gathering
      return .incomplete
    }
    return finish(frame, ending)
  }

  private mutating func finish(_ frame: [UInt8], _ kind: MessageKind) -> Outcome {
    state = .finished
    buffer.append(contentsOf: frame.dropFirst())
    defer { if !policy.keepsFinished { buffer = [] } }
    return .message(SegmentedMessage(kind, buffer))
  }
}

extension Reassembler.Policy {
  fileprivate enum Ending {
    case continues
    case ends(MessageKind)
    case unknown
  }

  /// The maximum message length of the implementation.
  fileprivate var limit: Int {
    switch self {
    case .esp32: 80
    case .libsesame3bt: 256
    case .ios, .android, .gomalock, .pysesameos2: .max
    }
  }

  /// Whether the implementation reads the header of a frame without checking that there is one.
  fileprivate var failsOnEmpty: Bool { self == .android || self == .esp32 || self == .pysesameos2 }

  /// Whether the bytes of a complete message stay, so that a stray frame delivers them again.
  fileprivate var keepsFinished: Bool { self == .gomalock || self == .pysesameos2 }

  /// How the implementation interprets the bits above the first.
  fileprivate func ending(_ header: SegmentHeader) -> Ending {
    switch self {
    case .ios:
      return header.field == 0 ? .continues : .ends(MessageKind(rawValue: header.field))
    case .esp32:
      // Anything that is not ciphertext is parsed as plaintext.
      if header.field == 0 { return .continues }
      return .ends(header.field == 2 ? .ciphertext : .plaintext)
    case .android:
      // A signed shift: with the highest bit set the field is negative, and the message continues.
      if header.field == 0 || header.rawValue >= 0x80 { return .continues }
      return header.field <= 2 ? .ends(MessageKind(rawValue: header.field)) : .unknown
    case .libsesame3bt:
      switch header.field & 3 {
      case 0: return .continues
      case 3: return .unknown
      case let kind: return .ends(MessageKind(rawValue: kind))
      }
    case .gomalock:
      if header.field & 3 == 0 { return .continues }
      return .ends(header.field & 2 != 0 ? .ciphertext : .plaintext)
    case .pysesameos2:
      if header.field == 0 { return .continues }
      return header.field <= 2 ? .ends(MessageKind(rawValue: header.field)) : .unknown
    }
  }
}

extension Reassembler.Reason: CustomStringConvertible {
  /// The reason as text.
  public var description: String {
    switch self {
    case .empty: "a frame without a header"
    case .headerOnly: "a frame without data"
    case .unknownKind(let kind): "kind \(kind) is unknown"
    case .unexpected(let advances): "no message to go on with" + (advances ? "; the counter advances" : "")
    case .tooLong: "the message is too long"
    }
  }
}

extension Reassembler.Outcome: CustomStringConvertible {
  /// The outcome as text.
  public var description: String {
    switch self {
    case .incomplete: "incomplete"
    case .message(let message): message.description
    case .ignored(let reason): "ignored: \(reason)"
    case .failed(let reason): "failed: \(reason)"
    }
  }
}
