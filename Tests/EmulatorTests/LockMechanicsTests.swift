import Sesame
import Basics
import TestSupport
import Testing

@testable import Emulator

@Suite("An emulated lock's mechanics")
struct LockMechanicsTests {
  /// A quarter turn in OS2's unit: locked at 0, unlocked at 256, ranges of 85 to either side.
  private func bolt(at units: Int16 = 0, positions: BoltPositions? = .quarterTurn) -> Bolt {
    Bolt(
      at: BoltAngle(turn1024ths: units), positions: positions, travelTime: .seconds(1), patience: .seconds(3))
  }

  /// What the bolt does from now on: each event with its time in ms and the angle, until it rests.
  private func run(_ bolt: inout Bolt) -> [String] {
    var log: [String] = []
    while let due = bolt.nextEvent, let event = bolt.advance(to: due) {
      log.append("\(event) at \(due.nanoseconds / 1_000_000) ms, \(bolt.angle(at: due).turn1024ths)")
    }
    return log
  }

  @Test(
    "a motor enters the range, then rests at the position; an obstacle halfway lets it give up after three seconds",
    arguments: [
      // at, goal, jammed, what happens
      (0, Bolt.Goal.unlocked, false, ["entered at 667 ms, 171", "rested at 1000 ms, 256"]),
      (256, .locked, false, ["entered at 667 ms, 85", "rested at 1000 ms, 0"]),
      (128, .locked, false, ["entered at 167 ms, 85", "rested at 500 ms, 0"]),
      (128, .unlocked, false, ["entered at 167 ms, 171", "rested at 500 ms, 256"]),
      (-256, .unlocked, false, ["entered at 833 ms, 171", "rested at 1000 ms, 256"]),
      (0, .locked, false, []),
      (80, .locked, false, []),
      (0, .between, false, ["stalled at 3500 ms, 128"]),
      (0, .unlocked, true, ["stalled at 3500 ms, 128"]),
      (256, .locked, true, ["stalled at 3500 ms, 128"]),
      (128, .locked, true, ["stalled at 3000 ms, 128"]),
      (160, .unlocked, true, ["stalled at 3000 ms, 160"]),
      (0, .locked, true, []),
    ] as [(Int16, Bolt.Goal, Bool, [String])])
  func motor(at angle: Int16, goal: Bolt.Goal, isJammed: Bool, events: [String]) {
    var bolt = bolt(at: angle)
    bolt.jam(isJammed, at: .zero)
    expect(bolt.drive(to: goal, at: .zero), !events.isEmpty)
    expect(run(&bolt), events)
    expect(bolt.isRunning, false)
    expect(bolt.isStalled, events.last?.contains("stalled") ?? false)
  }

  @Test("a motor that is turned round goes back from where it is, and to its own goal it just goes on")
  func turnabout() {
    var bolt = bolt()
    expect(bolt.drive(to: .unlocked, at: .zero), true)
    let later = Instant.zero + .milliseconds(500)
    expect(bolt.angle(at: later).turn1024ths, 128)
    expect(bolt.drive(to: .unlocked, at: later), false)
    expect(bolt.drive(to: .locked, at: later), true)
    expect(bolt.target, BoltAngle(degrees: 0))
    expect(run(&bolt), ["entered at 667 ms, 85", "rested at 1000 ms, 0"])
  }

  @Test("a hand turns the bolt at once, and a running motor goes on from there")
  func hand() {
    var bolt = bolt()
    bolt.turn(to: BoltAngle(degrees: 45), at: .zero)
    expect(bolt.angle(at: .zero).degrees, 45)
    expect(bolt.drive(to: .locked, at: .zero), true)
    bolt.turn(to: BoltAngle(degrees: 90), at: .zero + .milliseconds(100))
    expect(run(&bolt), ["entered at 767 ms, 85", "rested at 1100 ms, 0"])
    bolt.jam(true, at: .zero)
    expect(bolt.drive(to: .unlocked, at: .zero), true)
    expect(run(&bolt), ["stalled at 3500 ms, 128"])
    bolt.turn(to: BoltAngle(degrees: 90), at: .zero)
    expect(bolt.isStalled, false)
    expect(bolt.isInUnlockRange(at: .zero), true)
  }

  @Test("a hand that brings the bolt to the goal of a blocked motor lets it rest there")
  func relieved() {
    var bolt = bolt(at: 256)
    bolt.jam(true, at: .zero)
    expect(bolt.drive(to: .locked, at: .zero), true)
    bolt.turn(to: BoltAngle(degrees: 0), at: .zero + .seconds(2))
    expect(run(&bolt), ["rested at 2000 ms, 0"])
    expect(bolt.isStalled, false)
  }

  @Test("an obstacle that comes or goes while the motor runs stops it or lets it go on")
  func obstacle() {
    var bolt = bolt()
    let quarter = Instant.zero + .milliseconds(250)
    let late = Instant.zero + .milliseconds(900)
    expect(bolt.drive(to: .unlocked, at: .zero), true)
    bolt.jam(true, at: quarter)
    bolt.jam(false, at: .zero + .seconds(2))
    expect(run(&bolt), ["entered at 2167 ms, 171", "rested at 2500 ms, 256"])
    expect(bolt.drive(to: .locked, at: .zero), true)
    expect(bolt.advance(to: late), .entered)
    bolt.jam(true, at: late)
    expect(run(&bolt), ["stalled at 3900 ms, 26"])
  }

  @Test("without power the bolt stays where it is")
  func power() {
    var bolt = bolt()
    expect(bolt.drive(to: .unlocked, at: .zero), true)
    bolt.cutPower(at: .zero + .milliseconds(500))
    expect(bolt.nextEvent, nil)
    expect(bolt.angle(at: .zero + .seconds(9)).turn1024ths, 128)
    expect(bolt.isInLockRange(at: .zero) || bolt.isInUnlockRange(at: .zero), false)
  }

  @Test("a bolt whose positions were never set does not move by motor")
  func unset() {
    var bolt = bolt(positions: nil)
    expect(bolt.drive(to: .locked, at: .zero), false)
    expect(bolt.isInLockRange(at: .zero), false)
  }

  @Test(
    "angles convert to either unit and back, and never to the value that means none",
    arguments: [
      (Int16(0), Int16(0)), (90, 256), (-90, -256), (1, 3), (-1, -3), (45, 128), (180, 512), (32_000, .max),
      (-32_000, -.max),
    ])
  func angles(degrees: Int16, turn1024ths: Int16) {
    let angle = BoltAngle(degrees: degrees)
    expect(angle.degrees, degrees)
    expect(angle.turn1024ths, turn1024ths)
    if abs(Int(turn1024ths)) < 32_767 {
      expect(BoltAngle(turn1024ths: turn1024ths).degrees, degrees)
      expect(BoltAngle(turn1024ths: turn1024ths).turn1024ths, turn1024ths)
    }
  }

  @Test(
    "positions that make no sense are not taken, and there is always a place in neither range",
    arguments: [
      (Int16(0), Int16(90), true), (90, 0, true), (-100, 100, true), (0, 1, true), (5, 5, false),
      (.min, 0, false), (0, .min, false), (32_000, 0, true), (32_001, 0, false), (-32_000, 32_000, true),
    ])
  func positions(lock: Int16, unlock: Int16, isTaken: Bool) {
    let positions = BoltPositions(lockDegrees: lock, unlockDegrees: unlock)
    expect(positions != nil, isTaken)
    // The ranges that the apps give an OS2 lock overlap when the positions are a quarter turn apart.
    let apps = BoltPositions(
      lock: 0, unlock: 256, lockRange: (-150, 150), unlockRange: (106, 406))
    for known in [positions, apps].compactMap({ $0 }) {
      expect(known.lockRange.contains(known.lock) && known.unlockRange.contains(known.unlock), true)
      expect(known.lockRange.contains(known.between) || known.unlockRange.contains(known.between), false)
      expect(BoltAngle(degrees: known.between.degrees).distance(to: known.between).units <= 64, true)
    }
  }

  @Test("ranges outside which their position lies are not taken")
  func ranges() {
    expect(BoltPositions(lock: 0, unlock: 256, lockRange: (1, 150), unlockRange: (106, 406)), nil)
    expect(BoltPositions(lock: 0, unlock: 256, lockRange: (-150, 150), unlockRange: (406, 106)), nil)
    expect(BoltPositions(lock: 0, unlock: 0, lockRange: (-150, 150), unlockRange: (-150, 150)), nil)
    expect(BoltPositions(lock: 0, unlock: 256, lockRange: (-32_001, 150), unlockRange: (106, 406)), nil)
  }

  @Test(
    "a battery is what the status of either generation says, falls with each start of the motor, and ends at 0",
    arguments: [
      (6.0, 0.0001, false, UInt16(852), UInt16(2999), 5.9999), (5.0, 0.5, false, 639, 2250, 4.5),
      (0.0001, 0.0002, false, 0, 0, 0), (0, 1, false, 0, 0, 0), (0.0001, 0.0002, true, 1023, 3600, 7.2),
    ])
  func battery(volts: Double, sag: Double, wraps: Bool, os2: UInt16, os3: UInt16, after: Double) {
    var battery = LockBattery(volts: volts, sag: sag, wraps: wraps)
    expect(battery.isLow, volts < 5)
    battery.actuate()
    expect(battery.volts, after)
    expect(battery.raw(for: .os2), os2)
    expect(battery.raw(for: .os3), os3)
    battery.replace(volts: .infinity)
    expect(battery.raw(for: .os3), 65_535)
    battery.replace(volts: .nan)
    expect(battery.volts, 0)
  }

  @Test("a clock runs, drifts, is set and shifted, and wraps where 32 bits do")
  func clock() {
    let hour = Instant.zero + .seconds(3600)
    var clock = LockClock(unix: 1000, drift: 1000)
    expect(clock.seconds(at: hour), 4603)
    expect(clock.milliseconds(at: hour), 4_603_600)
    clock.set(unix: 5, at: hour)
    expect(clock.seconds(at: hour + .seconds(10)), 15)
    clock.shift(by: .seconds(-10), at: hour)
    expect(clock.seconds(at: hour), .max - 4)
    clock.set(unix: .max, at: hour)
    expect(clock.seconds(at: hour + .seconds(1)), 0)
  }

  @Test(
    "a history keeps its newest records in order, numbers going on, whatever was deleted",
    arguments: [1, 2, 3, 7])
  func history(capacity: Int) {
    var history = LockHistory(capacity: capacity)
    var model: [UInt32] = []
    var generator = SeededGenerator(seed: UInt64(capacity))
    var last: UInt32 = 0
    for _ in 0..<400 {
      switch generator.below(5) {
      case 0, 1, 2:
        history.append(.bleLock, milliseconds: 0, reading: BoltReading(position: BoltAngle(units: 0)))
        last += 1
        model.append(last)
        if model.count > capacity { model.removeFirst() }
      case 3:
        history.removeOldest()
        if !model.isEmpty { model.removeFirst() }
      default:
        let id = model.isEmpty ? last + 1 : model[generator.below(model.count)]
        expect(history.remove(id: id), model.contains(id))
        model.removeAll { $0 == id }
      }
      expect(history.count, model.count)
      expect(history.oldest?.id, model.first)
    }
    var read: [UInt32] = []
    while let record = history.oldest {
      read.append(record.id)
      history.removeOldest()
    }
    expect(read, model)
  }
}
