import Basics
import Bluetooth
import Conformance
import Sesame
import SesameDevice
import TestSupport
import Testing

/// What a client asks a link for: every requirement of `LockLink`, by name.
private enum LinkCall: CaseIterable {
  case now, abilities, generation, isKeySure
  case prepare, perform, bring, keep, drop
  case listen, stopListening, connect, disconnect, send, next, restart, takeDiagnostics, record

  private static let key = LockKey(
    deviceID: UUID128(high: 1, low: 2), secret: SecretKey(UUID128(high: 3, low: 4)))

  /// Asks a link for it, and says what it answers: a value, or what it throws.
  func answer<Link: LockLink>(of link: inout Link) -> String {
    do throws(LabFault) {
      switch self {
      case .now: return "\(link.now)"
      case .abilities: return "\(link.abilities.faults)"
      case .generation: return "\(String(describing: link.generation))"
      case .isKeySure: return "\(link.isKeySure)"
      case .prepare: return "\(try link.prepare(StartCondition())?.deviceID as Any)"
      case .perform: try link.perform("whistle", [])
      case .bring: try link.bring(about: Fault("fog"))
      case .keep: try link.keep(Self.key)
      case .drop: try link.drop(Self.key)
      case .listen: try link.listen()
      case .stopListening: try link.stopListening()
      case .connect: try link.connect()
      case .disconnect: try link.disconnect()
      case .send: try link.send([0x03, 0x01])
      case .next: return "\(try link.next(until: .zero + .seconds(3)) as Any)"
      case .restart: try link.restart()
      case .takeDiagnostics: return "\(link.takeDiagnostics())"
      case .record: return "\(link.record(to: PacketRecorder()))"
      }
      return "done"
    } catch {
      return "\(error)"
    }
  }
}

/// A link that writes down what it is asked for, and answers what no other one would.
private final class RecordingLink: LockLink {
  /// What it was asked for, in order.
  var calls: [LinkCall] = []
  /// The frames that it was to send.
  var frames: [[UInt8]] = []
  /// What all that can fail fails with.
  var trouble: LabFault?

  private func note<Answer>(_ call: LinkCall, _ answer: Answer) -> Answer {
    calls.append(call)
    return answer
  }

  private func attempt(_ call: LinkCall) throws(LabFault) {
    calls.append(call)
    if let trouble { throw trouble }
  }

  var now: Instant { note(.now, .zero + .seconds(2)) }
  var abilities: Abilities { note(.abilities, Abilities(stimuli: ["whistle"], faults: ["fog"])) }
  var generation: Generation? { note(.generation, .os2) }
  var isKeySure: Bool { note(.isKeySure, false) }

  func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    try attempt(.prepare)
    return LockKey(deviceID: UUID128(high: 5, low: 6), secret: SecretKey(UUID128(high: 7, low: 8)))
  }
  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) { try attempt(.perform) }
  func bring(about fault: Fault) throws(LabFault) { try attempt(.bring) }
  func keep(_ key: LockKey) throws(LabFault) { try attempt(.keep) }
  func drop(_ key: LockKey) throws(LabFault) { try attempt(.drop) }
  func listen() throws(LabFault) { try attempt(.listen) }
  func stopListening() throws(LabFault) { try attempt(.stopListening) }
  func connect() throws(LabFault) { try attempt(.connect) }
  func disconnect() throws(LabFault) { try attempt(.disconnect) }
  func send(_ frame: [UInt8]) throws(LabFault) {
    try attempt(.send)
    frames.append(frame)
  }
  func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    try attempt(.next)
    return .frame([0x03, 0x08])
  }
  func restart() throws(LabFault) { try attempt(.restart) }
  func takeDiagnostics() -> [String] { note(.takeDiagnostics, ["it is foggy"]) }
  func record(to recorder: PacketRecorder?) -> Bool { note(.record, true) }
}

/// What is wrong with a layer around a link: every call has to reach the link once, and what the link answers or throws
/// has to come out.
private func silentAnswers<Layer: LockLink>(_ makeLayer: (RecordingLink) -> Layer) -> [String] {
  var wrong: [String] = []
  for call in LinkCall.allCases {
    for trouble in [nil, LabFault(.badAnswer, "it barks")] {
      let link = RecordingLink()
      var bare = RecordingLink()
      var layer = makeLayer(link)
      (link.trouble, bare.trouble) = (trouble, trouble)
      let answer = call.answer(of: &layer)
      let expected = call.answer(of: &bare)
      let count = link.calls.count { $0 == call }
      // A layer may look at what the link offers while it prepares a test.
      if count != 1 && !(call == .abilities && count > 0) || answer != expected {
        wrong.append("\(call): \(count) times, \(answer), not \(expected)")
      }
    }
  }
  return wrong
}

@Suite("A layer of a link")
struct LinkLayerTests {
  private struct Bare: LinkLayer {
    var wrapped: RecordingLink
  }

  private struct Deaf: LinkLayer {
    var wrapped: RecordingLink
    var isKeySure: Bool { true }
  }

  @Test("none answers in the place of what is in it, and somebody who listens does not either")
  func layers() {
    expect(silentAnswers { Bare(wrapped: $0) }, [])
    expect(silentAnswers { AdversaryLink($0, ClientSettings()) }, [])
  }

  @Test("one that keeps something to itself is found out")
  func deaf() { expect(silentAnswers { Deaf(wrapped: $0) }.count, 2) }

  @Test("the frames of a message go on as they are and in order, when nobody meddles")
  func frames() throws {
    var layer = AdversaryLink(RecordingLink(), ClientSettings())
    let frames: [[UInt8]] = [[1, 1, 2], [0, 3], [4, 5], [5, 6]]
    for frame in frames { try layer.send(frame) }
    expect(layer.wrapped.frames, frames)
    expect(layer.takeActions(), frames.map { .send($0) })
    expect(layer.takeActions(), [])
  }
}
