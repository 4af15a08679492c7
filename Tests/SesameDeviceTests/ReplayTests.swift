@testable import SesameDevice
import Basics
import Conformance
import Sesame
import TestSupport
import Testing

@Suite("What is said again")
struct ReplayTests {
  // swift-format-ignore
  private static let texts: [(text: String, replay: Replay?)] = [
    ("message 2", Replay(.message(2))), ("message -1", Replay(.message(-1))), ("login", Replay(.login)),
    ("message 3 of session -2", Replay(.message(3), ofSession: -2)),
    ("login of session -1", Replay(.login, ofSession: -1)), ("session -4", Replay(.everything, ofSession: -4)),
    ("", nil), ("message", nil), ("message 0", nil), ("message x", nil), ("message 1 2", nil), ("session", nil),
    ("session 0", nil), ("session 1", nil), ("message 1 of session 0", nil), ("message 1 of session 2", nil),
    ("session -1 of session -1", nil), ("of session -1", nil), ("login of session", nil), ("logins", nil),
  ]

  @Test("its text reads back equal, and what is none is not taken for one")
  func texts() {
    for (text, replay) in Self.texts {
      expect(Replay(text), replay)
      if let replay { expect(replay.description, text) }
    }
    for replay in Replay.allCases { expect(Replay(replay.description), replay) }
    expect(Set(Replay.allCases.map(\.description)).count, Replay.allCases.count)
  }

  @Test("every value of every interference reads back", arguments: Interference.names)
  func values(name: String) throws {
    for value in Interference.values(of: name) {
      #expect(try Interference(Fault(name, value)) != nil)
    }
  }
}
