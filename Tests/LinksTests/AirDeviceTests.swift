import Basics
import Conformance
import Links
import TestSupport
import Testing

/// A client that takes time as it is told, and writes down what reaches it.
private final class ToyClient: DeviceLayer, AirClient {
  var wrapped = RecordingDevice()
  var now = Instant.zero
  /// What reached it, in order.
  var calls: [String] = []
  /// What the next call ends with.
  var fault: LabFault?
  /// When it shows something.
  var showTime = Instant.never

  private func note(_ call: String) throws(LabFault) {
    calls.append(call)
    if let fault { throw fault }
  }

  func reset(to start: StartCondition) throws(LabFault) { try note("reset") }
  func perform(_ stimulus: Stimulus) throws(LabFault) { try note("perform") }
  func bring(about fault: Fault) throws(LabFault) { try note("bring \(fault.name)") }
  func restart() throws(LabFault) { try note("restart") }
  func observe(until limit: Instant) throws(LabFault) -> Observation? {
    try note("observe \(limit.secondsText)")
    now = min(limit, showTime)
    return showTime <= limit ? .unknown("smoke") : nil
  }
  func takeDiagnostics() -> [String] { ["the client's"] }

  func recover(
    _ body: (inout Central<RadioTransport>) throws(LabFault) -> [String]
  ) throws(LabFault) -> [String] {
    try note("recover")
    var central = Central(RadioTransport(AirScene()), AirScene.settings)
    return try body(&central)
  }
}

private final class ToyFixture: Fixture {
  let abilities = Abilities(stimuli: [])
  var fault: LabFault?
  func prepare(_ start: StartCondition) {}
  func perform(_ stimulus: String, _ arguments: [Argument]) -> String? { nil }
  func bring(about fault: Fault) {}
}

private final class ToyRecovery: ControllerRecovery {
  var fault: LabFault?
  /// The fault that is left when everything was tried.
  var lastFault: LabFault?
  private var diagnostics = ["the recovery's"]
  func climb(_ central: inout Central<RadioTransport>) -> [String] {
    fault = lastFault
    return ["reset the controller"]
  }
  func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics
  }
}

/// What the harness asks a device for that goes over the air.
private var calls: [(name: String, body: (AirDevice<ToyClient>) throws(LabFault) -> Void)] {
  [
    ("reset", { device throws(LabFault) in try device.reset(to: StartCondition()) }),
    ("perform", { device throws(LabFault) in try device.perform(Stimulus(1)) }),
    ("bring fog", { device throws(LabFault) in try device.bring(about: Fault("fog")) }),
    ("observe 1.000", { device throws(LabFault) in _ = try device.observe(until: .zero + .seconds(1)) }),
  ]
}

@Suite("A lock on the air")
struct AirDeviceTests {
  private static let symptoms: [(LabFault.Symptom, LabFault.Symptom)] = [
    (.noAnswer, .transportLost), (.badAnswer, .transportLost), (.ended, .transportLost),
    (.noDevice, .noDevice), (.transportLost, .transportLost), (.programFailed, .programFailed),
    (.notPossible, .notPossible), (.linkLost, .linkLost), (.notReproduced, .notReproduced),
    (.noVerdict, .noVerdict), (.safetyLimit, .safetyLimit), (.stopped, .stopped),
  ]

  @Test("a controller that answers nothing, or nonsense, says nothing about the lock", arguments: symptoms)
  func symptom(client: LabFault.Symptom, device: LabFault.Symptom) {
    for call in calls {
      let air = AirDevice(ToyClient(), ToyFixture())
      expect(fault { () throws(LabFault) in try call.body(air) }, nil)
      air.wrapped.fault = LabFault(client, "it hums")
      expect(fault { () throws(LabFault) in try call.body(air) }, LabFault(device, "it hums"))
      expect(air.wrapped.calls.count, 2)
    }
  }

  @Test("a fixture that has failed is the trouble, whatever else happens")
  func fixture() {
    let broken = LabFault(.programFailed, "the emulator crashed")
    for other in [nil, LabFault(.linkLost, "it hums")] {
      for call in calls {
        let fixture = ToyFixture()
        let air = AirDevice(ToyClient(), fixture)
        (fixture.fault, air.wrapped.fault) = (broken, other)
        expect(fault { () throws(LabFault) in try call.body(air) }, broken)
        expect(air.wrapped.calls, [call.name])
      }
    }
  }

  @Test("when nothing is left to try, every call ends at once, and none reaches the client")
  func lost() {
    let (client, recovery) = (ToyClient(), ToyRecovery())
    let air = AirDevice(client, ToyFixture(), recovery: recovery)
    recovery.fault = LabFault(.transportLost, "it was unplugged")
    for call in calls { expect(fault { () throws(LabFault) in try call.body(air) }, recovery.fault) }
    expect(fault { () throws(LabFault) in try air.restart() }, recovery.fault)
    expect(client.calls, [])
  }

  @Test("a restart brings the controller back, and what it says comes behind what was said before")
  func restart() {
    let recovery = ToyRecovery()
    let air = AirDevice(ToyClient(), ToyFixture(), recovery: recovery, diagnostics: ["the bench's"])
    expect(fault { () throws(LabFault) in try air.restart() }, nil)
    expect(air.wrapped.calls, ["recover"])
    expect(
      air.takeDiagnostics(),
      ["the recovery's", "the bench's", "the client's", "reset the controller", "the client's"])
    expect(air.takeDiagnostics(), ["the client's"])
    // What it could not bring back is said by the restart itself.
    recovery.lastFault = LabFault(.transportLost, "it was unplugged")
    expect(fault { () throws(LabFault) in try air.restart() }, recovery.lastFault)
    expect(Array(air.takeDiagnostics().prefix(2)), ["the client's", "reset the controller"])
    // Without a recovery the client does it.
    let plain = AirDevice(ToyClient(), ToyFixture())
    expect(fault { () throws(LabFault) in try plain.restart() }, nil)
    expect(plain.wrapped.calls, ["restart"])
  }

  @Test("on the clock waiting is done in pieces of 50 ms, and ends with the request to stop")
  func pieces() throws {
    let limit = Instant.zero + .milliseconds(120)
    let pieces = ["observe 0.050", "observe 0.100", "observe 0.120"]
    for (showTime, isClock, expected) in [
      (Instant.never, true, pieces), (.zero + .milliseconds(70), true, Array(pieces.prefix(2))),
      (.never, false, ["observe 0.120"]),
    ] {
      let air = AirDevice(ToyClient(), ToyFixture(), isStopped: isClock ? { false } : nil)
      air.wrapped.showTime = showTime
      expect(try air.observe(until: limit), showTime == .never ? nil : .unknown("smoke"))
      expect(air.wrapped.calls, expected)
    }
    let client = ToyClient()
    let air = AirDevice(client, ToyFixture(), isStopped: { client.calls.count == 2 })
    expect(
      fault { () throws(LabFault) in _ = try air.observe(until: limit) },
      LabFault(.stopped, "a stop was requested"))
    expect(client.calls, Array(pieces.prefix(2)))
  }

  @Test("a lock that is not heard is silent by itself where others are heard")
  func unheard() {
    let texts = (0...2).map { Explanation.unheard(others: $0, isLossy: false)?.description }
    expect(
      texts,
      [
        nil, "unheard: the lock was not heard, and another device was, over the same controller",
        "unheard: the lock was not heard, and 2 other devices were, over the same controller",
      ])
    expect(Explanation.unheard(others: 1, isLossy: true)?.isOfDevice, true)
    let lost = Explanation.unheard(others: 0, isLossy: true)
    expect(
      lost, Explanation("unheard", "nothing was heard over a radio that loses packets", isOfDevice: false))
  }

  @Test("around a real lock there is nothing that does what needs a person")
  func noFixture() {
    let fixture = NoFixture(conditions: RealAir.conditions, settings: ["registered"])
    expect(fixture.abilities.conditions, ["loss"])
    expect(fixture.abilities.settings, ["registered"])
    expect(fixture.abilities.keepsState, true)
    expect(
      fault { () throws(LabFault) in _ = try fixture.perform("handToLocked", []) },
      LabFault(.notPossible, "'handToLocked' needs a person at the lock"))
    expect(
      fault { () throws(LabFault) in try fixture.bring(about: Fault("jam")) },
      LabFault(.notPossible, "the fault 'jam' needs a person at the lock"))
  }
}
