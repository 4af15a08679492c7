import Bluetooth
import Emulator
import Sesame
import Basics
import TestSupport
import Testing

/// What shows a defect: a lock, what is done with it, and what it does with and without the defect.
private struct Exposure: Sendable, CustomTestStringConvertible {
  var defect: LockDefect
  var model = ProductModel.sesame5
  var settings: [String] = []
  var rest = BoltState.locked
  var script: @Sendable (inout LockProbe) -> [String]
  var healthy: [String]
  var defective: [String]

  var testDescription: String { "\(defect) on \(model)" }

  func trace(with defects: LockDefects) -> [String] {
    var probe = LockProbe(model, settings, defects: defects, rest: rest)
    return script(&probe)
  }
}

@Suite("An emulated lock's defects")
struct LockDefectTests {
  @Test("a short sequence shows the defect, and a healthy lock never shows it", arguments: exposures)
  private func exposure(of exposure: Exposure) {
    expect(exposure.trace(with: []), exposure.healthy)
    expect(exposure.trace(with: [exposure.defect]), exposure.defective)
  }

  @Test("every defect is shown on a lock of either generation, or on the one that has it")
  func complete() {
    for defect in LockDefect.allCases {
      #expect(exposures.contains { $0.defect == defect }, "\(defect)")
    }
  }

  @Test("defects have names, and the nearest one is offered for a name that is none")
  func names() throws {
    expect(Set(LockDefect.allCases.map(\.name)).count, LockDefect.allCases.count)
    for defect in LockDefect.allCases {
      expect(try LockDefect(named: defect.name), defect)
      expect(defect.sentence.last, ".")
      expect(LockDefect.allCases.filter(LockDefects([defect]).contains), [defect])
    }
    #expect(throws: LockOptionError.self) { try LockDefect(named: "deaf") }
    do {
      _ = try LockDefect(named: "deaf-unlok")
    } catch {
      expect(error.description.hasSuffix("; did you mean 'deaf-unlock'?"), true)
    }
  }
}

extension LockProbe {
  /// Resets the lock and registers it again.
  fileprivate mutating func resetAndRegister() -> [String] {
    open()
    _ = send(.reset)
    _ = pass(.seconds(2))
    return connect() + register()
  }

  fileprivate mutating func configure() -> [String] {
    generation == .os2
      ? send(.setMechSetting(Sesame3Setting(lock: 0, unlock: 256).encoded))
      : send(.setMechSetting(Sesame5Setting(lock: 0, unlock: 90).positions))
  }

  /// Sends a command and lets five seconds pass.
  fileprivate mutating func work(_ command: LockCommand) -> [String] { send(command) + pass(.seconds(5)) }
}

private let alice = HistoryTag.text([UInt8]("Alice".utf8))
private let bob = HistoryTag.text([UInt8]("Bob".utf8))

private let unlocking = [
  "unlock: success", "status moved moving", "status unlocked moving", "status unlocked",
]

private let exposures =
  [ProductModel.sesame3, .sesame5].flatMap(both)
  + [
    Exposure(
      defect: .loginProofReplayed,
      script: { probe in
        _ = probe.connect()
        let proof = OS3Keys.sessionKey(deviceSecret: probe.owner!, probe.token!).proof
        _ = probe.login()
        _ = probe.disconnect()
        return probe.connect() + probe.login(proof: proof)
      },
      healthy: ["clear token", "disconnect 0x13"],
      defective: ["clear token", "login: success", "setting lock at 0.0°, unlock at 90.0°", "status locked"]),
    Exposure(
      defect: .loginProofReplayed, model: .sesame3,
      script: { probe in
        probe.open()
        let login = probe.lastFrames
        _ = probe.disconnect()
        _ = probe.connect()
        return probe.send(frames: login)
      },
      healthy: ["disconnect 0x13"], defective: ["undecipherable"]),
    Exposure(
      defect: .historyNeverEmpties, model: .sesame3,
      script: { probe in
        probe.open()
        _ = probe.work(.lock(.absent))
        return probe.send(.readHistory(0)) + probe.send(.readHistory(1)) + probe.send(.readHistory(1))
      },
      healthy: ["history: success +32", "history: success +32", "history: not found"],
      defective: ["history: success +32", "history: success +32", "history: success +32"]),
    Exposure(
      defect: .historyNeverEmpties,
      script: { probe in
        probe.open()
        _ = probe.work(.lock(.absent))
        return probe.send(.readHistory(1)) + probe.send(.deleteHistory(id: 1)) + probe.send(.readHistory(1))
      },
      healthy: ["history: success +16", "history delete: success", "history: not found"],
      defective: ["history: success +16", "history delete: success", "history: success +16"]),
    Exposure(
      defect: .historyTagMissing, model: .sesame3,
      script: { probe in
        probe.open()
        return probe.work(.lock(.text([0x41]))) + probe.send(.readHistory(1))
      },
      healthy: ["lock: success", "status locked", "history: success +33"],
      defective: ["lock: success", "status locked", "history: success +32"]),
    Exposure(
      defect: .historyTagMissing,
      script: { probe in
        probe.open()
        return probe.work(.lock(.text([0x41]))) + probe.send(.readHistory(1))
      },
      healthy: ["lock: success", "status locked", "history: success +18"],
      defective: ["lock: success", "status locked", "history: success +16"]),
  ]

/// The exposures that look the same in both generations.
private func both(_ model: ProductModel) -> [Exposure] {
  let login = model == .sesame5 ? ["setting lock at 0.0°, unlock at 90.0°", "status locked"] : []
  let unconfigured = model == .sesame5 ? ["setting not configured", "status moved"] : []
  let jam = ["unlock: success", "status moved moving", "status moved failed"]
  let relocking = ["status moved moving", "status locked moving", "status locked"]
  return [
    Exposure(
      defect: .deafUnlock, model: model,
      script: { probe in
        _ = probe.resetAndRegister()
        _ = probe.configure()
        _ = probe.work(.lock(.absent))
        return probe.work(.unlock(.absent))
      },
      healthy: unlocking, defective: ["unlock: success"]),
    Exposure(
      defect: .deafUnlock, model: model,
      script: { probe in
        _ = probe.resetAndRegister()
        _ = probe.configure()
        _ = probe.disconnect()
        probe.open()
        _ = probe.work(.lock(.absent))
        return probe.work(.unlock(.absent)) + probe.work(.unlock(.absent))
      },
      healthy: unlocking + ["unlock: success", "status unlocked"],
      defective: ["unlock: success"] + unlocking),
    Exposure(
      defect: .jamAfterAbortedLogins, model: model,
      script: { probe in
        for _ in 0..<4 { _ = probe.connect() + probe.disconnect() }
        probe.open()
        _ = probe.work(.unlock(.absent))
        _ = probe.work(.lock(.absent))
        return probe.work(.lock(.absent))
      },
      healthy: ["lock: success", "status locked"],
      defective: ["lock: success", "status moved moving", "status moved failed"]),
    Exposure(
      defect: .jamReportedAsLocked, model: model,
      script: { probe in
        probe.open()
        return probe.jam(true) + probe.work(.unlock(.absent))
      },
      healthy: jam, defective: ["unlock: success", "status moved moving", "status locked"]),
    Exposure(
      defect: .plaintextCommandObeyed, model: model,
      script: { $0.connect() + $0.send(.unlock(.absent), inClear: true) },
      healthy: ["clear token"], defective: ["clear token", "clear unlock: success"]),
    Exposure(
      defect: .plaintextCommandObeyed, model: model,
      script: { probe in
        probe.open()
        return probe.send(.unlock(.absent), inClear: true)
      },
      healthy: [], defective: ["clear unlock: success", "status moved moving"]),
    Exposure(
      defect: .loginProofUnchecked, model: model,
      script: { $0.connect() + $0.login(secret: .wrong) },
      healthy: ["clear token", "disconnect 0x13"],
      defective: ["clear token", "login: success"] + login),
    Exposure(
      defect: .replayedCommandObeyed, model: model,
      script: { probe in
        probe.open()
        _ = probe.work(.unlock(.absent))
        let frames = probe.lastFrames
        _ = probe.turn(to: .locked)
        return probe.send(frames: frames)
      },
      healthy: [], defective: ["unlock: success", "status moved moving"]),
    Exposure(
      defect: .tokenRepeated, model: model,
      script: { probe in
        _ = probe.connect()
        let token = probe.token
        _ = probe.disconnect()
        _ = probe.connect()
        return [probe.token == token ? "the same" : "another"]
      },
      healthy: ["another"], defective: ["the same"]),
    Exposure(
      defect: .counterKeptAcrossSessions, model: model,
      script: { probe in
        probe.open()
        return probe.disconnect() + probe.connect() + probe.login()
      },
      healthy: ["clear token", "login: success"] + login,
      defective: ["clear token"] + [String](repeating: "undecipherable", count: 1 + login.count)),
    Exposure(
      defect: .staleStatusAfterHandTurn, model: model,
      script: { probe in
        probe.open()
        return probe.turn(to: .unlocked) + probe.work(.lock(.absent))
      },
      healthy: ["status unlocked", "lock: success"] + relocking, defective: ["lock: success"] + relocking),
    Exposure(
      defect: .movedReportedAsUnlocked, model: model,
      script: { probe in
        probe.open()
        return probe.turn(to: .moved)
      },
      healthy: ["status moved"], defective: ["status unlocked"]),
    Exposure(
      defect: .statusLagsOneBehind, model: model,
      script: { probe in
        probe.open()
        _ = probe.work(.lock(.absent))
        return probe.work(.unlock(.absent))
      },
      healthy: unlocking,
      defective: ["unlock: success", "status locked", "status moved moving", "status unlocked moving"]),
    Exposure(
      defect: .restUnpublishedAfterTurnabout, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.unlock(.absent))
        _ = probe.pass(.milliseconds(600))
        return probe.work(.lock(.absent))
      },
      healthy: ["lock: success"] + relocking,
      defective: ["lock: success", "status moved moving", "status locked moving"]),
    Exposure(
      defect: .publishBeforeLogin, model: model, script: { $0.connect() }, healthy: ["clear token"],
      defective: ["clear token", "clear status locked"]),
    Exposure(
      defect: .resetKeepsKey, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.reset) + probe.pass(.seconds(2))
        return [probe.lock.advertisement?.isRegistered == true ? "registered" : "not registered"]
      },
      healthy: ["not registered"], defective: ["registered"]),
    Exposure(
      defect: .registrationBusyAfterReset, model: model,
      script: { probe in
        let first = probe.resetAndRegister().filter { $0.contains("registration") }
        _ = probe.cyclePower() + probe.connect()
        return first + probe.register().filter { $0.contains("registration") }
      },
      healthy: [
        "clear registration: success" + (model == .sesame5 ? " +77" : ""),
        "clear registration: invalid action",
      ],
      defective: [
        "clear registration: busy", "clear registration: success" + (model == .sesame5 ? " +77" : ""),
      ]),
    Exposure(
      defect: .settingsLostOnReconnect, model: model,
      script: { probe in
        probe.open()
        _ = probe.disconnect()
        return probe.lock.isConfigured ? ["configured"] : ["not configured"]
      },
      healthy: ["configured"], defective: ["not configured"]),
    Exposure(
      defect: .autolockChangeIgnored, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        return probe.send(.setAutolock(seconds: 5)) + probe.pass(.seconds(10))
      },
      healthy: ["autolock: success"] + relocking, defective: ["autolock: success"]),
    Exposure(
      defect: .autolockOutlivesOff, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        _ = probe.send(.setAutolock(seconds: 5)) + probe.pass(.seconds(2))
        return probe.send(.setAutolock(seconds: 0)) + probe.pass(.seconds(10))
      },
      healthy: ["autolock: success"], defective: ["autolock: success"] + relocking),
    Exposure(
      defect: .autolockForgottenOnDisconnect, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        _ = probe.send(.setAutolock(seconds: 5)) + probe.disconnect() + probe.pass(.seconds(10))
        return ["bolt at \(probe.lock.angle(at: probe.now))"]
      },
      healthy: ["bolt at 0°"], defective: ["bolt at 90°"]),
    Exposure(
      defect: .autolockEarly, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        return probe.send(.setAutolock(seconds: 8)) + probe.pass(.seconds(6))
      },
      healthy: ["autolock: success"], defective: ["autolock: success"] + relocking),
    Exposure(
      defect: .autolockLate, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        return probe.send(.setAutolock(seconds: 8)) + probe.pass(.seconds(12))
      },
      healthy: ["autolock: success"] + relocking, defective: ["autolock: success"]),
    Exposure(
      defect: .autolockFromLogin, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        _ = probe.pass(.seconds(6))
        return probe.send(.setAutolock(seconds: 8)) + probe.pass(.seconds(6))
      },
      healthy: ["autolock: success"], defective: ["autolock: success"] + relocking),
    Exposure(
      defect: .autolockStartVaries, model: model, rest: .unlocked,
      script: { probe in
        probe.open()
        return probe.send(.setAutolock(seconds: 15)) + probe.pass(.seconds(20))
      },
      healthy: ["autolock: success"] + relocking, defective: ["autolock: success"]),
    Exposure(
      defect: .autolockOutlivesReset, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.setAutolock(seconds: 8)) + probe.disconnect()
        _ = probe.resetAndRegister()
        _ = probe.configure()
        return probe.work(.unlock(.absent)) + probe.pass(.seconds(10))
      },
      healthy: unlocking, defective: unlocking + relocking),
    Exposure(
      defect: .deadUntilPowerCycle, model: model,
      script: { probe in
        let heard = { (probe: LockProbe) in probe.lock.advertisement == nil ? "silent" : "advertising" }
        probe.open()
        _ = probe.disconnect()
        var log = [heard(probe)]
        probe.open()
        _ = probe.disconnect(reason: 0x08)
        log.append(heard(probe))
        _ = probe.cyclePower()
        return log + [heard(probe)]
      },
      healthy: ["advertising", "advertising", "advertising"],
      defective: ["advertising", "silent", "advertising"]),
    Exposure(
      defect: .tokenMissingEverySecondTime, model: model,
      script: { $0.connect() + $0.disconnect() + $0.connect() + $0.disconnect() + $0.connect() },
      healthy: ["clear token", "clear token", "clear token"], defective: ["clear token", "clear token"]),
    Exposure(
      defect: .answersStopAfterIdling, model: model,
      script: { probe in
        probe.open()
        _ = probe.pass(.seconds(599))
        let early = probe.send(.lock(.absent))
        _ = probe.pass(.seconds(600))
        return early + probe.send(.lock(.absent)) + probe.send(.lock(.absent))
      },
      healthy: [
        "lock: success", "status locked", "lock: success", "status locked", "lock: success", "status locked",
      ], defective: ["lock: success", "status locked"]),
    Exposure(
      defect: .calibrationDrifts, model: model,
      script: { probe in
        probe.open()
        for _ in 0..<8 { _ = probe.work(.unlock(.absent)) + probe.work(.lock(.absent)) }
        return probe.work(.unlock(.absent))
      },
      healthy: unlocking,
      defective: ["unlock: success", "status moved moving", "status unlocked moving", "status moved"]),
    Exposure(
      defect: .oldKeyAcceptedAfterReset, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.reset) + probe.pass(.seconds(2))
        let unowned = probe.connect() + probe.login() + probe.disconnect()
        let old = probe.owner
        _ = probe.connect() + probe.register() + probe.disconnect()
        probe.owner = old
        return unowned + probe.connect() + probe.login()
      },
      healthy: ["clear token", "disconnect 0x13", "clear token", "disconnect 0x13"],
      defective: ["clear token", "login: success"] + unconfigured + ["clear token", "login: success"]
        + unconfigured),
    Exposure(
      defect: .ownerReplaced, model: model,
      script: { probe in
        _ = probe.connect()
        return probe.register().filter { $0.contains("registration") }
      },
      healthy: ["clear registration: invalid action"],
      defective: ["clear registration: success" + (model == .sesame5 ? " +77" : "")]),
    Exposure(
      defect: .shortProofAccepted, model: model,
      script: { probe in
        var log: [String] = []
        for missing in [1, 4] {
          _ = probe.connect()
          log += probe.login(cutBy: missing) + probe.disconnect()
        }
        return log
      },
      healthy: ["disconnect 0x13", "disconnect 0x13"],
      defective: ["login: success"] + login + ["login: success"] + login),
    Exposure(
      defect: .secondLoginRestartsSession, model: model,
      script: { probe in
        probe.open()
        let login = probe.lastFrames
        _ = probe.send(.readVersion)
        probe.cipher?.receiveCounter = 0
        return probe.send(frames: login)
      },
      healthy: [], defective: ["login: success"] + login),
    Exposure(
      defect: .olderMessageReplayed, model: model,
      script: { probe in
        probe.open()
        _ = probe.work(.unlock(.absent))
        let frames = probe.lastFrames
        let once = probe.send(frames: frames)
        _ = probe.work(.lock(.absent))
        return once + probe.send(frames: frames)
      },
      healthy: [], defective: ["unlock: success", "status moved moving"]),
    Exposure(
      defect: .earlierSessionReplayed, model: model,
      script: { probe in
        probe.open()
        _ = probe.work(.lock(.absent))
        let frames = probe.lastFrames
        var log: [String] = []
        for _ in 0..<2 {
          _ = probe.disconnect()
          probe.open()
          log += probe.send(frames: frames)
        }
        return log
      },
      healthy: [], defective: ["lock: success", "status locked", "lock: success", "status locked"]),
    Exposure(
      defect: .longMessageLost, model: model,
      script: { probe in
        probe.open()
        let item: [UInt8] = model == .sesame3 ? [3, 0xFA] : [0xFA]
        let two = probe.send(bytes: item + [UInt8](repeating: 0, count: 38 - 4 - item.count))
        return two + probe.send(bytes: item + [UInt8](repeating: 0, count: 39 - 4 - item.count))
          + probe.send(.lock(.absent))
      },
      healthy: ["item 250: not supported", "item 250: not supported", "lock: success", "status locked"],
      defective: ["item 250: not supported"]),
    Exposure(
      defect: .longTagCut, model: model,
      script: { probe in
        probe.open()
        _ = probe.work(.lock(.text([UInt8](repeating: 0x41, count: 21))))
        return probe.send(.readHistory(1))
      },
      healthy: ["history: success +\(model == .sesame3 ? 53 : 38)"],
      defective: ["history: success +\(model == .sesame3 ? 48 : 33)"]),
    Exposure(
      defect: .answerNamesAnotherRequest, model: model,
      script: { probe in
        probe.open()
        return probe.send(.lock(.absent)) + probe.send(.setAutolock(seconds: 0))
      },
      healthy: ["lock: success", "status locked", "autolock: success"],
      defective: ["login: success", "status locked", "lock: success"]),
    Exposure(
      defect: .movingAfterRest, model: model,
      script: { probe in
        probe.open()
        return probe.work(.unlock(.absent))
      },
      healthy: unlocking, defective: unlocking + ["status unlocked moving"]),
    Exposure(
      defect: .recordNumbersRestart, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(alice))
        let first = probe.records()
        _ = probe.disconnect()
        probe.open()
        _ = probe.send(.lock(alice))
        return first + probe.records()
      },
      healthy: ["#1 lock “Alice” at 0", "#2 lock “Alice” at 0"],
      defective: ["#1 lock “Alice” at 0", "#1 lock “Alice” at 0"]),
    Exposure(
      defect: .recordTimeLost, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(alice))
        _ = probe.send(.setTime(1_700_000_000))
        _ = probe.send(.lock(alice))
        // A healthy clock was right from the beginning.
        return probe.records().map { $0.hasSuffix("at 3600") ? String($0.dropLast(4)) + "0" : $0 }
      },
      healthy: ["#1 lock “Alice” at 0", "#2 time changed at 0", "#3 lock “Alice” at 0"].map {
        model == .sesame5 ? $0.replacing("changed", with: "changed no tag") : $0
      },
      defective: [
        "#1 lock “Alice” at 0", "#2 time changed at -1700000000", "#3 lock “Alice” at -1700000000",
      ].map { model == .sesame5 ? $0.replacing("changed", with: "changed no tag") : $0 }),
    Exposure(
      defect: .recordsExchanged, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(alice))
        _ = probe.send(.lock(bob))
        _ = probe.pass(.seconds(2))
        _ = probe.send(.lock(alice))
        return probe.records()
      },
      healthy: ["#1 lock “Alice” at 0", "#2 lock “Bob” at 0", "#3 lock “Alice” at 2"],
      defective: ["#1 lock “Bob” at 0", "#2 lock “Alice” at 0", "#3 lock “Alice” at 2"]),
    Exposure(
      defect: .tagOfCommandBefore, model: model,
      script: { probe in
        probe.open()
        for tag in [alice, bob, alice] { _ = probe.send(.lock(tag)) }
        return probe.records()
      },
      healthy: ["#1 lock “Alice” at 0", "#2 lock “Bob” at 0", "#3 lock “Alice” at 0"],
      defective: ["#1 lock no tag at 0", "#2 lock “Alice” at 0", "#3 lock “Bob” at 0"]),
    Exposure(
      defect: .recordTwice, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(alice))
        return probe.records()
      },
      healthy: ["#1 lock “Alice” at 0"], defective: ["#1 lock “Alice” at 0", "#2 lock “Alice” at 0"]),
    Exposure(
      defect: .historyOutlivesReset, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(alice))
        _ = probe.disconnect()
        _ = probe.resetAndRegister()
        return probe.records()
      },
      healthy: [], defective: ["#1 lock “Alice” at 0"]),
    Exposure(
      defect: .framesOfMTU, model: model,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(alice))
        probe.lock.exchanged(capacity: 244)
        _ = probe.records()
        let longest = probe.longestFrame
        _ = probe.disconnect()
        probe.open()
        _ = probe.send(.lock(alice))
        _ = probe.records()
        return ["\(longest)", "\(probe.longestFrame)"]
      },
      healthy: ["20", "20"], defective: [model == .sesame3 ? "46" : "30", "20"]),
    Exposure(
      defect: .clockNeverSetBack, model: model,
      script: { probe in
        probe.open()
        _ =
          probe.send(.setTime(1_699_999_000)) + probe.send(.lock(alice)) + probe.send(.setTime(1_700_009_000))
        _ = probe.send(.lock(bob))
        return probe.records().filter { $0.contains("lock") }
      },
      healthy: ["#2 lock “Alice” at -1000", "#4 lock “Bob” at 9000"],
      defective: ["#2 lock “Alice” at 3600", "#4 lock “Bob” at 9000"]),
    Exposure(
      defect: .batteryOfFailedRequest, model: model,
      script: { probe in
        probe.open()
        var volts: [String] = []
        for command in [LockCommand.readHistory(1), .lock(alice), .lock(alice)] {
          _ = probe.send(command)
          volts.append(probe.volts == 0 ? "empty" : "full")
        }
        return volts
      },
      healthy: ["full", "full", "full"], defective: ["full", "empty", "full"]),
    Exposure(
      defect: .batteryWrapsAtZero, model: model, settings: ["battery=0.0001", "sag=0.0002"],
      script: { probe in
        probe.open()
        _ = probe.work(.unlock(.absent))
        return ["\(probe.lock.volts) V"]
      },
      healthy: ["0.0 V"], defective: ["7.2 V"]),
  ]
}
