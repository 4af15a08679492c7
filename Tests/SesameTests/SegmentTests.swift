import Bluetooth
import Sesame
import Basics
import TestSupport
import Testing

@Suite struct SegmentTests {
  typealias Outcome = Reassembler.Outcome

  /// What each program makes of frames that a correct sender does not send: iOS, Android, ESP32,
  /// libsesame3bt, gomalock, pysesameos2.
  // swift-format-ignore
  static let table: [(name: String, frames: [[UInt8]], outcomes: [Outcome])] = [
    ("an empty notification", [[]],
     [.ignored(.empty), .failed(.empty), .failed(.empty), .ignored(.empty), .ignored(.empty), .failed(.empty)]),
    ("a header without data", [[0x03]],
     [plain([]), plain([]), plain([]), .ignored(.headerOnly), plain([]), plain([])]),
    ("a first frame while a message is open", [[0x01, 0xAA], [0x03, 0xBB]],
     [plain([0xBB]), plain([0xBB]), plain([0xBB]), plain([0xBB]), plain([0xBB]), plain([0xBB])]),
    ("a stray frame after a message", [[0x03, 0xAA], [0x02, 0xBB]],
     [plain([0xBB]), plain([0xBB]), plain([0xBB]), .ignored(.unexpected(advancesCounter: false)),
      plain([0xAA, 0xBB]), plain([0xAA, 0xBB])]),
    ("a stray ciphertext frame after a message", [[0x03, 0xAA], [0x04, 0xBB]],
     [cipher([0xBB]), cipher([0xBB]), cipher([0xBB]), .ignored(.unexpected(advancesCounter: true)),
      cipher([0xAA, 0xBB]), cipher([0xAA, 0xBB])]),
    ("a stray frame on a fresh connection", [[0x02, 0xBB]],
     [plain([0xBB]), plain([0xBB]), plain([0xBB]), plain([0xBB]), plain([0xBB]), plain([0xBB])]),
    ("kind 3", [[0x07, 0xAA]],
     [.message(SegmentedMessage(MessageKind(rawValue: 3), [0xAA])), .failed(.unknownKind(3)), plain([0xAA]),
      .ignored(.unknownKind(3)), cipher([0xAA]), .failed(.unknownKind(3))]),
    ("kind 5, which two bits read as plaintext", [[0x0B, 0xAA]],
     [.message(SegmentedMessage(MessageKind(rawValue: 5), [0xAA])), .failed(.unknownKind(5)), plain([0xAA]),
      plain([0xAA]), plain([0xAA]), .failed(.unknownKind(5))]),
    ("the highest bit, which a signed shift reads as negative", [[0x81, 0xAA]],
     [.message(SegmentedMessage(MessageKind(rawValue: 64), [0xAA])), .incomplete, plain([0xAA]), .incomplete,
      .incomplete, .failed(.unknownKind(64))]),
    ("81 bytes", Segmenter().frames(of: [UInt8](repeating: 1, count: 81), .plaintext),
     [plain(81), plain(81), .failed(.tooLong), plain(81), plain(81), plain(81)]),
    ("257 bytes", Segmenter().frames(of: [UInt8](repeating: 1, count: 257), .plaintext),
     [plain(257), plain(257), .ignored(.tooLong), .ignored(.tooLong), plain(257), plain(257)]),
  ]

  static func plain(_ bytes: [UInt8]) -> Outcome { .message(SegmentedMessage(.plaintext, bytes)) }

  static func plain(_ count: Int) -> Outcome { plain([UInt8](repeating: 1, count: count)) }

  static func cipher(_ bytes: [UInt8]) -> Outcome { .message(SegmentedMessage(.ciphertext, bytes)) }

  @Test("each program has its own way with what a correct sender does not send", arguments: table)
  func policies(name: String, frames: [[UInt8]], outcomes: [Outcome]) {
    for (policy, wanted) in zip(Reassembler.Policy.allCases, outcomes) {
      var receiver = Reassembler(policy: policy)
      let received = frames.map { receiver.receive($0) }
      #expect(received.last == wanted, "\(policy): \(name)")
    }
    expect(outcomes.count, Reassembler.Policy.allCases.count)
  }

  @Test("after a message that is too long every program takes the next first frame")
  func recovery() {
    for policy in Reassembler.Policy.allCases {
      var receiver = Reassembler(policy: policy, limit: 40)
      let frames = Segmenter().frames(of: [UInt8](repeating: 1, count: 77), .plaintext)
      let received = frames.map { receiver.receive($0) }
      let fault: Outcome = policy == .esp32 ? .failed(.tooLong) : .ignored(.tooLong)
      expect(received, [.incomplete, .incomplete, fault, .ignored(.tooLong), .ignored(.tooLong)])
      expect(receiver.receive([0x03, 7]), Self.plain([7]))
    }
  }

  @Test("a stray frame after a reset counts as on a fresh connection")
  func reset() {
    var receiver = Reassembler(policy: .libsesame3bt)
    expect(receiver.receive([0x03, 1]), Self.plain([1]))
    expect(receiver.receive([0x02, 2]), .ignored(.unexpected(advancesCounter: false)))
    receiver.reset()
    expect(receiver.receive([0x02, 2]), Self.plain([2]))
  }

  @Test("messages of every length go through frames of every size, for every program")
  func roundTrips() {
    var generator = SeededGenerator(seed: 20)
    for _ in 0..<400 {
      let size = 2 + generator.below(250)
      let kind: MessageKind = generator.below(2) == 0 ? .plaintext : .ciphertext
      let message = SegmentedMessage(kind, generator.bytes(1 + generator.below(80)))
      let frames = Segmenter(frameSize: size).frames(of: message)
      guard frames.allSatisfy({ $0.count <= size }), frames.dropLast().allSatisfy({ $0.count == size }) else {
        Issue.record("a frame of another size than \(size)")
        return
      }
      for policy in Reassembler.Policy.allCases {
        var receiver = Reassembler(policy: policy)
        let outcomes = frames.map { receiver.receive($0) }
        guard outcomes == Array(repeating: .incomplete, count: frames.count - 1) + [.message(message)] else {
          Issue.record("\(policy) makes \(outcomes) of \(message)")
          return
        }
      }
    }
  }

  @Test("frames drawn at random never trap a receiver, and no message exceeds its limit")
  func garbage() {
    for policy in Reassembler.Policy.allCases {
      var generator = SeededGenerator(seed: 21)
      var receiver = Reassembler(policy: policy, limit: 100)
      for _ in 0..<3000 {
        var frame = generator.bytes(generator.below(24))
        if !frame.isEmpty, generator.below(4) > 0 { frame[0] %= 8 }
        if case .message(let message) = receiver.receive(frame), message.bytes.count > 100 {
          Issue.record("\(policy) delivers \(message.bytes.count) bytes")
          return
        }
      }
    }
  }

  @Test("outcomes read as words")
  func descriptions() {
    expect("\(Self.plain([0xAB]))", "plaintext ab")
    expect("\(Outcome.incomplete)", "incomplete")
    expect(
      "\(Outcome.ignored(.unexpected(advancesCounter: true)))",
      "ignored: no message to go on with; the counter advances")
    expect("\(Outcome.failed(.unknownKind(5)))", "failed: kind 5 is unknown")
    expect("\(MessageKind(rawValue: 9))", "kind 9")
  }
}
