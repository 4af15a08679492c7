import SesameDevice
import Automata
import Bluetooth
import Conformance
import Emulator
import Models
import Sesame
import Basics
import TestSupport
import Testing

/// A healthy lock of which one notification is garbage, in an open session that nobody disturbs.
private struct GarbageLink: LinkLayer {
  var wrapped: DirectLink
  /// What the lock says beside what it should, five seconds after its token.
  let garbage: Garbage
  private var key: LockKey?
  private var token: Token?
  private var due = Instant.never
  private var queue: [[UInt8]] = []
  /// The lock's last encrypted frame, and how many there were.
  private var last: [UInt8] = []
  private var count: UInt64 = 0

  init(_ link: DirectLink, _ garbage: Garbage) {
    wrapped = link
    self.garbage = garbage
  }

  mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    key = try wrapped.prepare(start)
    return key
  }

  mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    if !queue.isEmpty { return .frame(queue.removeFirst()) }
    if let event = try wrapped.next(until: min(limit, due)) {
      if case .frame(let frame) = event { note(frame) }
      return event
    }
    guard due <= now else { return nil }
    due = .never
    if let reason = garbage.end {
      try wrapped.disconnect()
      return .disconnected(reason: reason)
    }
    queue = garbage.frames(&self)
    return queue.isEmpty ? nil : .frame(queue.removeFirst())
  }

  private mutating func note(_ frame: [UInt8]) {
    if frame.count == 7, frame.starts(with: [3, 8, 14]) {
      token = try? Token(decoding: [UInt8](frame.dropFirst(3)))
      due = now + .seconds(5)
    } else if frame[0] == 5 || frame[0] == 4 {
      count += 1
      last = frame
    }
  }

  /// The last encrypted frame of the lock.
  var lastFrame: [UInt8] { last }

  /// The frames of a message that the client believes, of a Sesame 5.
  func sealed(_ bytes: [UInt8], ahead: UInt64 = 0) -> [[UInt8]] {
    guard let key, let token else { return [] }
    var cipher = SessionCipher(
      key: OS3Keys.sessionKey(deviceSecret: key.secret, token), token: .os3(token), end: .lock)
    cipher.sendCounter = count + ahead
    return Segmenter().frames(of: cipher.encrypt(bytes), .ciphertext)
  }
}

/// Something that no lock says.
private struct Garbage: Sendable, CustomTestStringConvertible {
  var words: String
  var violation: SesameViolation
  /// Whether it is sealed with the session's key.
  var isAuthentic = false
  /// The reason with which the link ends in place of a frame.
  var end: UInt8?
  var frames: @Sendable (inout GarbageLink) -> [[UInt8]]

  var testDescription: String { words }
}

private let zeros = [UInt8](repeating: 0, count: 19)

private let garbage: [Garbage] = [
  Garbage(words: "nothing", violation: .emptyFrame) { _ in [[]] },
  Garbage(words: "a header alone", violation: .emptyFrame) { _ in [[3]] },
  Garbage(words: "a frame that goes on with nothing", violation: .unexpectedFrame) { _ in [[0, 1, 2, 3]] },
  Garbage(words: "the end of nothing", violation: .unexpectedFrame) { _ in [[4, 1, 2, 3, 4, 5]] },
  Garbage(words: "two beginnings", violation: .unfinishedMessage) { _ in [[1, 8, 81], [1, 8, 81]] },
  Garbage(words: "a kind that does not exist", violation: .unknownKind) { _ in [[0xFF, 1, 2]] },
  Garbage(words: "a message that does not end", violation: .messageTooLong) { _ in
    [[1] + zeros] + [[UInt8]](repeating: [0] + zeros, count: 40)
  },
  Garbage(words: "a status in clear", violation: .clearText) { _ in [[3, 8, 81, 0, 0, 0, 0, 0, 0, 0]] },
  Garbage(words: "an answer in clear", violation: .clearText) { _ in [[3, 7, 83, 6, 0]] },
  Garbage(words: "noise", violation: .notAuthentic) { _ in [[5, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE]] },
  Garbage(words: "less than a tag", violation: .notAuthentic) { _ in [[5, 1, 2]] },
  Garbage(words: "neither answer nor publish, in clear", violation: .undecodable) { _ in [[3, 0x63, 1]] },
  Garbage(words: "an answer without a result", violation: .undecodable) { _ in [[3, 7]] },
  Garbage(words: "the last message again", violation: .replayed, isAuthentic: true) { [$0.lastFrame] },
  Garbage(words: "a counter that jumps", violation: .counterJump, isAuthentic: true) {
    $0.sealed([8, 81, 0, 0, 0, 0, 0, 0, 0], ahead: 3)
  },
  Garbage(words: "neither answer nor publish", violation: .undecodable, isAuthentic: true) {
    $0.sealed([0x63, 1, 2])
  },
  Garbage(words: "a status of two bytes", violation: .undecodable, isAuthentic: true) {
    $0.sealed([8, 81, 0, 0])
  },
  Garbage(words: "an answer to nothing", violation: .answerToNothing, isAuthentic: true) {
    $0.sealed([7, 82, 0])
  },
]

@Suite("Garbage that a lock sends on a way that nobody tampered with")
struct GarbageTests {
  private static let specification = (try? Machine(.sesame)).map { Specification($0, showsEffects: false) }

  private func divergence(
    of garbage: Garbage, on name: String, quirks: [SesameViolation] = []
  ) throws -> (Divergence?, [TraceList.Entry]) {
    let lock = try EmulatedLockSpecification(parsing: name, settings: [])
    let device = ClientDevice(
      GarbageLink(DirectLink(lock, seed: 1), garbage), quirks: quirks
    ) {
      SeededGenerator(seed: 1, for: "client")
    }
    var lockstep = Lockstep(
      try #require(Self.specification), device, invariants: [NoViolation()], recorder: TraceList())
    _ = try lockstep.reset(to: StartCondition([Argument("registered", .flag(true))]))
    for name in ["closeTo", "connect"] {
      let stimulus = Stimulus(try #require(lockstep.vocabulary.stimulus(name)))
      if let divergence = try lockstep.perform(stimulus) { return (divergence, lockstep.recorder.entries) }
      let divergence = try lockstep.pass(until: lockstep.now + .seconds(name == "connect" ? 20 : 1))
      if divergence != nil { return (divergence, lockstep.recorder.entries) }
    }
    expect(lockstep.status, lockstep.vocabulary.status("locked"))
    return (nil, lockstep.recorder.entries)
  }

  @Test("each kind of garbage is a divergence, by its name and with its packet", arguments: garbage)
  private func named(garbage: Garbage) throws {
    for name in garbage.isAuthentic ? ["sesame5"] : ["sesame3", "sesame5"] {
      let (found, _) = try divergence(of: garbage, on: name)
      guard case .violation(let violation)? = found?.kind else {
        Issue.record("\(name): \(found?.summary ?? "agrees")")
        continue
      }
      expect(violation.name, garbage.violation.rawValue)
      #expect(violation.packet != nil)
      expect(found?.signature.hasPrefix("broke \(violation.name)"), true)
    }
  }

  @Test(
    "what a lock's file has among its quirks is noted once, and no divergence", arguments: garbage)
  private func excused(garbage: Garbage) throws {
    let (found, trace) = try divergence(of: garbage, on: "sesame5", quirks: [garbage.violation])
    // What is sealed takes a counter that the lock then uses a second time.
    if !garbage.isAuthentic || garbage.violation == .replayed { expect(found?.summary, nil) }
    let diagnostics = trace.compactMap { entry -> Violation? in
      guard case .observation(.violation(let violation)) = entry.event else { return nil }
      return violation
    }
    expect(diagnostics.map(\.name), [garbage.violation.rawValue])
    expect(diagnostics.first?.quirk, "the lock file lists it under `quirks`")
  }

  @Test(
    "a lock that leaves is not only seen to be gone",
    arguments: [
      (0x13, "hung-up: the lock ended the link, 0x13 (ended by the remote user)"),
      (0x08, "link-lost: the link ended, 0x08 (connection timeout)"),
    ])
  func leaving(reason: UInt8, why: String) throws {
    let garbage = Garbage(words: "the end", violation: .noAnswer, end: reason) { _ in [] }
    let (found, _) = try divergence(of: garbage, on: "sesame5")
    expect(found?.kind, .unexpected("noSignal"))
    expect(found?.summary, "the device showed noSignal, which the model does not allow; \(why)")
    expect(found?.explanation?.name, String(why.prefix { $0 != ":" }))
  }

  @Test("what locks are known for is a diagnostic, once in a test and only with those that do it")
  func known() throws {
    func diagnostics(_ name: String, _ settings: [(name: String, value: String)]) throws -> [String] {
      let lock = try EmulatedLockSpecification(parsing: name, settings: settings)
      var device = ClientDevice(DirectLink(lock, seed: 1)) { SeededGenerator(seed: 1, for: "client") }
      let specification = try #require(Self.specification)
      device.adopt(specification.vocabulary)
      try device.reset(to: StartCondition([Argument("registered", .flag(true))]))
      var seen: [String] = []
      for _ in 0..<2 {
        for name in ["closeTo", "connect", "disconnect"] {
          try device.perform(Stimulus(try #require(specification.vocabulary.stimulus(name))))
          let end = device.now + .seconds(2)
          while let observation = try device.observe(until: end) {
            guard case .violation(let violation) = observation else { continue }
            seen.append(violation.name + (violation.quirk == nil ? "!" : ""))
          }
        }
      }
      return seen
    }
    for name in ["sesame3", "sesame5"] {
      expect(try diagnostics(name, []), [])
      expect(try diagnostics(name, [(name: "initial", value: "twice")]), ["token-again"])
    }
    let early = [(name: "early-ciphertext", value: "yes")]
    let leftover = [(name: "leftover-frame", value: "yes")]
    for name in ["sesame3", "sesame5"] {
      expect(try diagnostics(name, early), ["before-token"])
      expect(try diagnostics(name, leftover), ["unexpected-frame"])
    }
  }
}
