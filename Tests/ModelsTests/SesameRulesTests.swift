import Automata
import Basics
import Conformance
import Models
import TestSupport
import Testing

/// Scripts of a client and its lock: a word for each thing that is seen.
///
/// `+3` lets seconds pass, `lock` and `lock=Alice` are stimuli, `?locked` is a status, `!battery=5` a fault,
/// `battery:5.9` a reading. `#3:unlock:Alice` is a record of the history that was made now, `#3:unlock:Alice:-60` one
/// that was made a minute ago by the lock's clock; `#` is the end of the history. `~Alice` and similar events are
/// reported by the device.
@Suite("Rules of Sesame")
struct SesameRulesTests {
  private static let session = "?logining ?locked +1 "
  private static let empty = session + "# +1 "
  private static let foreign =
    "the history shows a command that was not given, was recorded before, or follows a later one"
  private static let untagged = "the history shows a command without its tag"
  private static let numbers = "the numbers of records do not ascend"
  private static let time = "a record has another time than the clock of the lock"
  private static let clock = "the clock was set and is wrong again"
  private static let battery = "the battery rose by itself"
  private static let unlocked = "unlocked after locked, with no unlock, toggle or hand"
  private static let locked = "locked after unlocked, with no lock, toggle, hand or autolock"
  private static let autolock = "the autolock time outlives the reset"

  // swift-format-ignore
  static let scripts: [(script: String, conditions: [String], fault: String?)] = [
    // The battery.
    ("battery:6 battery:5.9 battery:5.9 battery:6.1", [], battery),
    ("battery:6 battery:5.9 !battery=6 battery:6", [], nil),
    ("battery:5 !battery=0 !battery=6 battery:0 battery:6 battery:5.9 battery:6", [], nil),
    ("battery:5 !battery=0 !battery=6 battery:0 battery:6 battery:5.9 battery:6 battery:5 battery:5.1", [], battery),
    ("battery:5 !battery=0 battery:7", [], battery),
    ("battery:6 battery:0 battery:6", [], battery),
    // The bolt.
    ("?locked +10 unlock +1 ?unlocked", [], nil),
    ("?locked +10 ?moved +10 ?unlocked", [], unlocked),
    ("?locked +10 ?noSignal ?receivedBle ?connecting ?waitingGatt ?logining ?unlocked", [], unlocked),
    ("?locked +10 handToUnlocked ?unlocked", [], nil), ("?locked +10 toggle ?unlocked", [], nil),
    ("?locked +10 ?reset ?noSignal ?registering ?unlocked", [], nil),
    ("?locked +10 !forge ?unlocked", [], unlocked),
    ("unlock ?locked +3 ?unlocked", [], nil), ("unlock +7 ?locked +3 ?unlocked", [], unlocked),
    ("unlock +7 ?locked +3 ?unlocked", ["loss"], nil), ("unlock +17 ?locked +3 ?unlocked", ["loss"], unlocked),
    ("?locked ?unlocked", ["tampering"], nil), ("?locked ?unlocked", ["absent", "loss"], nil),
    ("?unlocked ?noSignal +60 ?logining ?locked", [], locked), ("?unlocked lock +2 ?locked", [], nil),
    ("?unlocked setAutolock=10 +12 ?locked unlock ?unlocked +60 ?locked", [], nil),
    ("?unlocked setAutolock=0 +12 ?locked", [], locked),
    // What a reset leaves.
    ("setAutolock=10 ?reset +1 ?registering ?nosetting autolock:10", [], autolock),
    ("setAutolock=10 ?reset +1 ?registering ?nosetting autolock:0", [], nil),
    ("setAutolock=10 ?reset +1 ?registering ?nosetting setAutolock=5 autolock:5", [], nil),
    ("setAutolock=10 ~tampered ?reset +1 !request ?registering ?nosetting autolock:10", [], nil),
    ("autolock:10", [], nil),
    // The version.
    ("version:a version:a", [], nil), ("version:a version:b", [], "the version changed"),
    // Which commands the history shows.
    (empty + "unlock=Alice +2 #4:unlock:Alice +1 #", [], nil), (empty + "unlock=Alice +2 #4:unlock:", [], untagged),
    (empty + "unlock=Alice +2 #4:unlock:Alic", [], foreign), (empty + "unlock=Alice +2 #4:lock:Alice", [], foreign),
    (empty + "unlock=Alice +2 #4:unlock:Bob", [], foreign), (empty + "#4:unlock:Bob", [], foreign),
    (empty + "unlock +2 #4:unlock:Lockstep", [], nil), (empty + "toggle=Eve +2 #1:unlock:Eve", [], nil),
    (empty + "toggle=Eve +2 #1:lock:Eve", [], foreign),
    (empty + "unlock=Alice +2 #4:unlock:Alice +1 #5:unlock:Alice", [], foreign),
    (empty + "unlock=A +2 lock=B +2 #4:unlock:A #5:lock:B #", [], nil),
    (empty + "unlock=A +2 lock=B +2 #4:lock:B #5:unlock:A", [], foreign),
    (empty + "unlock=A +2 lock=B +2 #5:lock:B #", [], nil),
    (empty + "#4:autolock: #5:unlocked_by_hand: #6:unlock_through_WiFi:Eve", [], nil),
    (session + "#4:unlock:Bob", [], nil),
    (empty + "!mutate #4:unlock:Bob", [], nil), (empty + "!mutate +11 # +1 #4:unlock:Bob", [], foreign),
    (empty + "!mutate +9 # +1 #4:unlock:Bob", [], nil),
    (session + "unlock=A +2 ?reset +1 ?noSignal ?registering ?nosetting +1 #1:unlock:A", [], foreign),
    // A new autolock time leaves a record, too.
    (empty + "setAutolock=5 lock=A +1 #1:autolock_updated: #2:lock:A", [], nil),
    (empty + "setAutolock=5 lock=A +1 #1:lock:A #2:autolock_updated:", [], foreign),
    (empty + "setAutolock=5 setAutolock=6 +1 #1:autolock_updated: #2:time_changed: #3:autolock_updated:", [], nil),
    // A tag is cut to the bytes that a record has: 21 or 29.
    (empty + "unlock=123456789012345678901234567890 +1 #1:unlock:12345678901234567890123456789", [], nil),
    (empty + "unlock=123456789012345678901234567890 +1 #1:unlock:123456789012345678901", [], nil),
    (empty + "unlock=123456789012345678901234567890 +1 #1:unlock:1234567890123456", [], foreign),
    // Between two bytes of a letter: the rule does not know the tag then.
    (empty + "unlock=ééééééééééééééé +1 #1:unlock:éééééééééé", [], nil),
    // Numbers.
    (session + "#4:autolock: #5:autolock: ?noSignal +1 ?logining ?locked #1:autolock:", [], numbers),
    (session + "#4:autolock:A #4:autolock:B", [], numbers), (session + "#4:autolock:A #4:autolock:A", [], nil),
    (session + "#4:autolock: ?reset +1 ?noSignal ?registering #1:autolock:", [], nil),
    // Times.
    (empty + "unlock=A +2 #4:unlock:A:-2", [], nil), (empty + "unlock=A +2 #4:unlock:A:-3600", [], time),
    (empty + "unlock=A +30 unlock=A +2 #4:unlock:A:-2", [], nil), (empty + "unlock +30 unlock=A +2 #4:unlock:A:-2", [], nil),
    (empty + "unlock=A +2 #4:unlock:A:-1700000000", [], time), (empty + "unlock=A +2 #4:unlock:A:60", [], time),
    ("?logining time:3600 ?locked +1 # unlock=A +2 #4:unlock:A:3600", [], nil),
    ("?logining time:3600 ?locked +11 # unlock=A +2 #4:unlock:A:3600", [], time),
    ("?logining time:3600 ?locked refused:time +11 # unlock=A +2 #4:unlock:A:3600", [], nil),
    (empty + "~tampered unlock=A +2 #4:unlock:A:60", [], nil),
    ("?logining time:3600 ?locked +11 ?noSignal ~tampered ?logining time:3600", [], clock),
    (empty + "!clock=60 unlock=A +2 #4:unlock:A:60", [], nil),
    ("?logining !clock=3600 ?locked +1 # unlock=A +2 #4:unlock:A:3600", [], nil),
    ("?logining ~tampered ?locked +1 # unlock=A +2 #4:unlock:A:3600", [], nil),
    (empty + "+600 unlock=A +2 #4:unlock:A:100", [], nil), (empty + "+600 unlock=A +2 #4:unlock:A:200", [], time),
    // The clock.
    ("?logining time:3600 ?locked +11 ?noSignal ?logining time:3600", [], clock),
    ("?logining time:3600 ?locked +9 ?noSignal ?logining time:3600", [], nil),
    ("?logining time:3600 ?locked +11 ?noSignal !power-cycle ?logining time:-1700000000", [], nil),
    ("?logining time:3600 ?locked refused:time +11 ?noSignal ?logining time:3600", [], nil),
    ("?logining ?locked +11 ?noSignal ?logining time:3600", [], clock),
    ("?logining ?locked +11 ?noSignal ?logining time:20", [], nil),
    ("?logining ?locked +600 ?noSignal ?logining time:150", [], nil),
    ("?logining ?locked +600 ?noSignal ?logining time:-300", [], clock),
  ]

  @Test("a rule is broken where it says, and nowhere else", arguments: scripts)
  func script(_ script: String, holding conditions: [String], fault: String?) throws {
    var monitors = try MachineDefinition.sesame.rules.monitors()
    for index in monitors.indices { monitors[index].reset(isNew: false) }
    let vocabulary = Vocabulary(machine: try Machine(.sesame))
    let view = ModelView(vocabulary, holding: conditions)
    var complaints: [String] = []
    var now = Instant.zero
    for word in script.split(separator: " ") {
      guard let event = event(String(word), vocabulary, &now) else { continue }
      for index in monitors.indices {
        guard let complaint = monitors[index].check(event, at: now, in: view) else { continue }
        complaints.append(String(complaint.prefix { $0 != ":" }))
      }
    }
    expect(complaints, fault.map { [$0] } ?? [])
  }

  private func event(_ word: String, _ vocabulary: Vocabulary, _ now: inout Instant) -> TraceEvent? {
    let rest = String(word.dropFirst())
    switch word.first {
    case "+":
      now = now + .seconds(Int64(rest) ?? 0)
      return nil
    case "?": return .observation(vocabulary.observation(ofStatus: rest))
    case "~": return .observation(.event(SeenEvent(vocabulary.stimulus(rest) ?? -1)))
    case "!":
      let parts = rest.split(separator: "=").map(String.init)
      return .fault(Fault(parts[0], parts.count > 1 ? value(parts[1]) : .flag(true)))
    case "#" where rest.isEmpty: return .observation(.reading(Reading("history", .text("empty"))))
    case "#":
      let parts = rest.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      let age = parts.count > 3 ? Int64(parts[3]) ?? 0 : 0
      return .observation(
        .reading(
          Reading(
            "record",
            .record([
              ("number", value(parts[0])),
              ("event", .text(parts[1].map { $0 == "_" ? " " : String($0) }.joined())),
              ("tag", .text(parts[2])), ("time", .instant(now + .seconds(age) - .zero)),
            ]))))
    default: break
    }
    if let colon = word.firstIndex(of: ":") {
      let name = String(word[..<colon])
      let text = String(word[word.index(after: colon)...])
      let shown: Value =
        name == "time" ? .instant(now + .seconds(Int64(text) ?? 0) - .zero) : value(text)
      return .observation(.reading(Reading(name, shown)))
    }
    let parts = word.split(separator: "=").map(String.init)
    guard let number = vocabulary.stimulus(parts[0]) else { return nil }
    guard parts.count > 1 else { return .stimulus(Stimulus(number)) }
    let argument =
      parts[0] == "setAutolock"
      ? Argument("delay", .duration(.seconds(Int64(parts[1]) ?? 0))) : Argument("tag", .text(parts[1]))
    return .stimulus(Stimulus(number, [argument]))
  }

  private func value(_ text: String) -> Value {
    Int(text).map { .integer($0) } ?? Double(text).map { .number($0) } ?? .text(text)
  }

  @Test("of a new lock, the rule knows that the history is empty, and says which value it met")
  func new() throws {
    var monitor = try #require(try MachineDefinition.sesame.rules.monitors().last)
    let vocabulary = Vocabulary(machine: try Machine(.sesame))
    let complaints = [false, true].map { isNew in
      monitor.reset(isNew: isNew)
      var now = Instant.zero
      return ["?logining", "?locked", "#7:unlock:Bob"].compactMap { word in
        event(word, vocabulary, &now).flatMap {
          monitor.check($0, at: now, in: ModelView(vocabulary, holding: []))
        }
      }
    }
    expect(complaints, [[], [Self.foreign + ": event is unlock; tag is Bob; commands is []"]])
  }
}
