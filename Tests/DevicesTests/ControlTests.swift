@testable import Devices
import Bluetooth
import Conformance
import Links
import Foundation
import Sesame
import Basics
import Synchronization
import TestSupport
import Testing

@testable import Transports

private let key = LockKey(
  deviceID: UUID128(high: 1, low: 2), secret: SecretKey(UUID128(high: 3, low: 4)), index: 5)

@Suite("The control protocol")
struct ControlMessageTests {
  // swift-format-ignore
  static let requests: [(ControlRequest, String)] = [
    (.abilities, #"{"abilities":true}"#), (.watch, #"{"watch":true}"#),
    (.prepare(StartCondition(), options: []), #"{"prepare":{}}"#),
    (.prepare(StartCondition([Argument("registered", .flag(true)), Argument("battery", .number(5.5))]), options: [Argument("motor", .text("2 s"))]),
      #"{"prepare":{"registered":true,"battery":5.5},"options":{"motor":"2 s"}}"#),
    (.stimulus("handToLocked", []), #"{"stimulus":"handToLocked"}"#),
    (.stimulus("handToMoved", [Argument("tag", .text("5 s"))]), #"{"stimulus":"handToMoved","arguments":{"tag":"5 s"}}"#),
    (.fault(Fault("delay", .duration(.milliseconds(300)))), #"{"fault":"delay","value":{"duration":"300 ms"}}"#),
    (.fault(Fault("drop", .integer(3))), #"{"fault":"drop","value":3}"#),
    (.fault(Fault("jam", .flag(false))), #"{"fault":"jam","value":false}"#),
  ]

  @Test("requests read back as they were written", arguments: requests.indices)
  func request(index: Int) throws {
    let (request, line) = Self.requests[index]
    expect(request.line, line)
    expect(try ControlRequest(line: Array(line.utf8)), request)
  }

  static let answers: [ControlAnswer] = [
    .done, .refused("because"), .prepared(nil), .prepared(JSON(exposing: key)),
    .abilities(
      ControlAbilities(
        lock: "sesame5", stimuli: ["a"], faults: ["b", "c"], settings: [], options: ["d"],
        conditions: ["loss"])),
    .abilities(
      {
        var abilities = ControlAbilities(
          lock: "pad", stimuli: [], faults: [], settings: [], options: [], conditions: [])
        (abilities.reports, abilities.readings, abilities.showsEffects) = (["lost"], ["battery"], true)
        return abilities
      }()),
    .shown(["event": "lost", "detail": "by hand"]),
  ]

  @Test("answers read back as they were written", arguments: answers.indices)
  func answer(index: Int) throws {
    expect(try ControlAnswer(line: Array(Self.answers[index].line.utf8)), Self.answers[index])
  }

  @Test(
    "what is no message is refused, and nothing of it is quoted",
    arguments: [
      "", "[]", "{}", "7", "{\"abilities\":true,\"x\":1}", "{\"prepare\":7}",
      "{\"fault\":\"jam\",\"value\":null}",
      "{\"fault\":\"jam\",\"value\":{\"duration\":\"soon\"}}", "{\"stimulus\":7}", "{\"secret\":\"c0ffee\"}",
      "{\"prepared\":{\"registered\":true}}",
    ])
  func malformed(line: String) {
    #expect { _ = try ControlRequest(line: Array(line.utf8)) } throws: { !"\($0)".contains("c0ffee") }
    #expect { _ = try ControlAnswer(line: Array(line.utf8)) } throws: { !"\($0)".contains("c0ffee") }
  }

  @Test("the key of a Sesame reads back as it was written; of one that is none nothing is quoted")
  func keys() throws {
    var source = SeededGenerator(seed: 1)
    let other = LockKey(
      deviceID: key.deviceID, secret: key.secret, lockPublicKey: PrivateKey(from: &source).publicKey)
    let taken = ControlledKey()
    for key in [key, other, nil] {
      try taken.take(key.map { JSON(exposing: $0) })
      expect(taken.key, key)
    }
    let malformed: [JSON] = [
      [:], ["uuid": "c0ffee"], ["uuid": "c0ffee", "secret": "c0ffee"], ["secret": "c0ffee", "uuid": 7],
    ]
    for json in malformed { #expect { try taken.take(json) } throws: { !"\($0)".contains("c0ffee") } }
  }
}

@Suite("A control socket", .timeLimit(.minutes(10)))
struct ControlSocketTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/control" }

  /// A server that answers as a function says, on a thread of its own, until it goes.
  private final class Emulator: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter shown: what each start and stimulus makes its program show.
    init(
      _ path: String, showing shown: [JSON] = [],
      answer: @escaping @Sendable (ControlRequest) -> ControlAnswer?
    ) throws {
      nonisolated(unsafe) let server = try ControlServer(path: path)
      Thread { [self] in
        while !isOver.load(ordering: .relaxed) {
          for (client, request) in unsafe server.service() {
            switch request {
            case .watch: if answer(request) == .done { unsafe server.watch(client) }
            case .stimulus, .prepare: for line in shown { unsafe server.show(line) }
            case .abilities, .fault: break
            }
            if let answer = answer(request) { unsafe server.answer(client, answer) }
          }
          usleep(1000)
        }
        unsafe server.shutDown()
        ended.signal()
      }.start()
    }

    func stop() {
      isOver.store(true, ordering: .relaxed)
      ended.wait()
    }
  }

  private static let abilities = ControlAbilities(
    lock: "sesame5", stimuli: ["handToLocked"], faults: ["jam"], settings: ["registered"], options: ["motor"],
    conditions: [])

  @Test("what is asked is done, and the key of the lock comes back")
  func asks() throws {
    let asked = Mutex<[ControlRequest]>([])
    let emulator = try Emulator(path) { request in
      asked.withLock { $0.append(request) }
      return switch request {
      case .abilities: .abilities(Self.abilities)
      case .prepare: .prepared(JSON(exposing: key))
      case .stimulus, .watch: .done
      case .fault: .refused("no bolt to jam")
      }
    }
    defer { emulator.stop() }
    expect(folder.mode("control"), 0o600)
    let control = try ControlledFixture(path: path)
    let taken = ControlledKey()
    control.takeKey = { json throws(ControlError) in try taken.take(json) }
    expect(control.offered, Self.abilities)
    control.options = [Argument("motor", .text("2 s"))]
    try control.prepare(StartCondition([Argument("registered", .flag(true))]))
    expect(taken.key, key)
    expect(try control.perform("handToLocked", []), nil)
    #expect(throws: LabFault(.notPossible, "no bolt to jam")) { try control.bring(about: Fault("jam")) }
    let expected: [ControlRequest] = [
      .abilities,
      .prepare(
        StartCondition([Argument("registered", .flag(true))]), options: [Argument("motor", .text("2 s"))]),
      .stimulus("handToLocked", []), .fault(Fault("jam")),
    ]
    expect(asked.withLock { $0 }, expected)
  }

  @Test("what a lock's program shows is compared as it is on our radio, from the start of a test on")
  func shown() throws {
    let vocabulary = Vocabulary(stimuli: ["lost"], statuses: ["on"], effects: ["beep"])
    let lines: [JSON] = [
      ["effect": "beep"], ["reading": ["battery": 6]], ["event": "lost", "detail": "0x08"],
      ["event": "found"],
      ["violation": "twice", "of": "open", "detail": "pull 2"],
    ]
    let wanted: [Observation] = [
      .effect(0), .reading(Reading("battery", .integer(6))), .event(SeenEvent(0, "0x08")), .unknown("found"),
      .violation(Violation("twice", of: "open", "pull 2")),
    ]
    let emulator = try Emulator(path, showing: lines) { request in
      switch request {
      case .abilities: .abilities(Self.abilities)
      case .prepare: .prepared(nil)
      case .stimulus, .fault, .watch: .done
      }
    }
    let fixture = try ControlledFixture(path: path)
    fixture.watchesProgram = true
    fixture.adopt(vocabulary)
    for _ in 0..<2 {
      try fixture.prepare(StartCondition())
      // What was shown before the answer belongs to no test.
      expect(fixture.takeObservations(), [])
      expect(try fixture.perform("handToLocked", []), nil)
      expect(fixture.takeObservations(), wanted)
      expect(fixture.takeObservations(), [])
    }
    try fixture.prepare(StartCondition())
    emulator.stop()
    expect(fixture.takeObservations(), [])
    expect(
      fixture.fault,
      LabFault(.transportLost, "the emulator of the lock, \(path): it closed the connection"))
  }

  @Test(
    "an emulator that cannot be watched shows nothing, and one that shows a line of no known form is trouble")
  func unwatched() throws {
    for (answer, line, fault) in [
      (ControlAnswer.refused("expected {…}"), JSON.null, String?.none),
      (
        .done, ["status": "on"], "the emulator shows a line of no known form: a peripheral shows no `status`"
      ),
    ] {
      let emulator = try Emulator(path, showing: [line]) { request in
        switch request {
        case .abilities: .abilities(Self.abilities)
        case .prepare: .prepared(nil)
        case .stimulus, .fault: .done
        case .watch: answer
        }
      }
      let fixture = try ControlledFixture(path: path)
      fixture.watchesProgram = true
      try fixture.prepare(StartCondition())
      _ = try fixture.perform("handToLocked", [])
      expect(fixture.takeObservations(), [])
      expect(fixture.fault?.detail.hasPrefix(fault ?? "none"), fault.map { _ in true })
      emulator.stop()
    }
  }

  @Test(
    "no answer, a false answer and a socket that is gone are trouble of the lab, and over with the next try")
  func trouble() throws {
    let answers = Mutex<[ControlAnswer?]>([.abilities(Self.abilities), nil, .prepared(nil), .done])
    let emulator = try Emulator(path) { _ in answers.withLock { $0.isEmpty ? .done : $0.removeFirst() } }
    let control = try ControlledFixture(path: path, timeout: .seconds(3))
    let name = "the emulator of the lock, \(path): "
    #expect(throws: LabFault(.transportLost, name + "no answer within 3 s")) {
      _ = try control.perform("a", [])
    }
    #expect(throws: LabFault(.transportLost, name + "an answer to something else")) {
      _ = try control.perform("a", [])
    }
    _ = try control.perform("a", [])
    emulator.stop()
    #expect(throws: LabFault(.transportLost, name + "it closed the connection")) {
      _ = try control.perform("a", [])
    }
    do {
      _ = try control.perform("a", [])
      Issue.record("nobody listens")
    } catch {
      expect(error.symptom, .noDevice)
    }
    expect(folder.names, [])
  }

  @Test("a socket left behind is replaced, one in use and a file are not, and a path has its limit")
  func places() throws {
    _ = try ControlSocket.listen(at: path)
    #expect(throws: ControlError("\(path): another program listens there")) { try ControlServer(path: path) }
    // A descriptor that is closed leaves its name behind.
    let stale = folder.path + "/stale"
    close(try ControlSocket.listen(at: stale))
    _ = try ControlServer(path: stale)
    let file = folder.write("file", "text")
    #expect(throws: ControlError("\(file): exists, and is no socket")) { try ControlServer(path: file) }
    expect(folder.read("file"), "text")
    let long = folder.path + "/" + String(repeating: "x", count: 107 - folder.path.utf8.count)
    #expect(throws: ControlError.self) { try ControlServer(path: long) }
    _ = try ControlServer(path: String(long.dropLast()))
  }

  @Test("a line that is none is answered, and one without an end ends the connection")
  func malformed() throws {
    let server = try ControlServer(path: path)
    var client = LineStream(try ControlSocket.connect(to: path))
    defer { close(client.descriptor) }
    client.send("nonsense")
    var reading = LineStream.Reading.nothing
    eventually {
      expect(server.service().count, 0)
      client.wait(for: .milliseconds(10))
      reading = client.next()
      return reading != .nothing
    }
    guard case .line(let line) = reading else {
      Issue.record("no answer: \(reading)")
      return
    }
    if case .refused = try ControlAnswer(line: line) {} else { Issue.record("not refused") }
    client.send(String(repeating: "x", count: 70_000))
    reading = .nothing
    eventually {
      client.flush()
      expect(server.service().count, 0)
      client.wait(for: .milliseconds(10))
      reading = client.next()
      return reading != .nothing
    }
    expect(reading, .over)
  }
}
