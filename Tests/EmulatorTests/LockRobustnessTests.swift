import Bluetooth
import Emulator
import Sesame
import Basics
import TestSupport
import Testing

/// Whatever arrives, and whatever happens, a lock goes on: nothing traps, the bolt stays within what can be told,
/// the battery never rises, and nothing is overdue.
@Suite("An emulated lock under attack")
struct LockRobustnessTests {
  /// A lock with a peer that does anything.
  private struct Attack {
    var probe: LockProbe
    var generator: SeededGenerator
    var volts: Double
    var heard = 0

    init(_ model: ProductModel, _ settings: [String], defects: LockDefects = [], seed: UInt64) {
      generator = SeededGenerator(seed: seed)
      probe = LockProbe(
        model, settings, defects: defects, registered: generator.below(4) > 0,
        configured: generator.below(4) > 0)
      volts = probe.lock.volts
    }

    mutating func step() {
      switch generator.below(24) {
      case 0, 1: heard += probe.connect().count
      case 2: heard += probe.disconnect(reason: generator.below(2) == 0 ? 0x08 : 0x13).count
      case 3, 4: heard += probe.login().count
      case 5: heard += probe.register().count
      case 6: heard += probe.turn(to: BoltState.allCases[generator.below(3)]).count
      case 7: heard += probe.jam(generator.below(2) == 0).count
      case 8: if generator.below(8) == 0 { heard += probe.cyclePower().count }
      case 9, 10: heard += probe.pass(.milliseconds(Int64(generator.below(3000)))).count
      case 11, 12, 13: heard += probe.send(frames: [generator.bytes(generator.below(24))]).count
      case 14, 15: heard += probe.send(frames: mutated()).count
      case 16, 17:
        if probe.cipher != nil { heard += probe.send(bytes: generator.bytes(generator.below(40))).count }
      case 18: heard += probe.send(bytes: generator.bytes(generator.below(90)), inClear: true).count
      default:
        if probe.cipher != nil {
          heard += probe.send(command(), inClear: generator.below(6) == 0).count
        }
      }
    }

    /// The last message with a few bits inverted, or a frame left out, doubled or cut.
    private mutating func mutated() -> [[UInt8]] {
      var frames = probe.lastFrames
      guard !frames.isEmpty else { return [] }
      let place = generator.below(frames.count)
      switch generator.below(4) {
      case 0: frames.remove(at: place)
      case 1: frames.insert(frames[place], at: place)
      case 2: frames[place] = [UInt8](frames[place].prefix(generator.below(frames[place].count + 1)))
      default:
        for _ in 0...generator.below(3) where !frames[place].isEmpty {
          frames[place][generator.below(frames[place].count)] ^= 1 << UInt8(generator.below(8))
        }
      }
      return frames
    }

    private mutating func command() -> LockCommand {
      let number = Int16(truncatingIfNeeded: generator.next())
      switch generator.below(12) {
      case 0, 1: return .lock(.text(generator.bytes(generator.below(22))))
      case 2, 3: return .unlock(.absent)
      case 4: return .setAutolock(seconds: generator.below(3) == 0 ? number : Int16(generator.below(5)))
      case 5: return .setMechSetting(generator.bytes(probe.generation == .os2 ? 12 : 4))
      case 6: return .setMechSetting(Sesame5Setting(lock: 0, unlock: number).positions)
      case 7: return .readHistory(UInt8(generator.below(3)))
      case 8: return .deleteHistory(id: UInt32(generator.below(20)))
      case 9: return .setTime(UInt32(truncatingIfNeeded: generator.next()))
      case 10: return generator.below(6) == 0 ? .reset : .readVersion
      default:
        return .other(
          Request(probe.generation == .os2 ? .read : nil, ItemCode(rawValue: UInt8(generator.below(256)))))
      }
    }

    /// What holds at any time.
    mutating func check() -> Bool {
      let lock = probe.lock
      defer { volts = lock.volts }
      return lock.volts <= volts && lock.volts >= 0
        && abs(Int(lock.angle(at: probe.now).degrees)) < 32_767
        && (lock.deadline.map { $0 >= probe.now } ?? true)
    }
  }

  @Test(
    "no frames, commands or conditions stop a healthy lock or break what holds at any time",
    arguments: [
      (ProductModel.sesame3, []), (.sesame4, ["receiver=ios", "failed-message=advances-counter"]),
      (.sesame5, []), (.sesame5Pro, ["receiver=esp32", "initial=twice", "early-ciphertext=yes"]),
      (.sesame5, ["receiver=gomalock", "bad-request=disconnect", "wrong-login=result", "motor=1 ms"]),
      (.sesame3, ["receiver=pysesameos2", "sag=0.5", "login-payload=30", "firmware=0"]),
      (.sesame5, ["receiver=android", "while-moving=busy", "plaintext=disconnect", "history-capacity=2"]),
    ])
  func healthy(model: ProductModel, settings: [String]) {
    for seed in 0..<6 as Range<UInt64> {
      var attack = Attack(model, settings, seed: seed)
      var holds = true
      for _ in 0..<400 where holds {
        attack.step()
        holds = attack.check()
      }
      #expect(holds, "seed \(seed)")
      #expect(attack.heard > 20, "seed \(seed)")
    }
  }

  @Test("nor do they stop a lock with all its defects at once", arguments: [ProductModel.sesame3, .sesame5])
  func defective(model: ProductModel) {
    for seed in 0..<10 as Range<UInt64> {
      var attack = Attack(model, [], defects: LockDefects(LockDefect.allCases), seed: seed)
      for _ in 0..<300 { attack.step() }
      #expect(attack.probe.lock.volts >= 0)
    }
  }

  @Test("a lock that is left alone after an attack comes to rest, and can be opened again")
  func recovers() {
    for model in [ProductModel.sesame3, .sesame5] {
      for seed in 0..<6 as Range<UInt64> {
        var attack = Attack(model, [], seed: seed)
        for _ in 0..<200 { attack.step() }
        var probe = attack.probe
        _ = probe.jam(false) + probe.disconnect() + probe.cyclePower()
        let owner = probe.lock.isRegistered
        let heard = probe.connect() + (owner ? [] : probe.register())
        #expect(heard.first == "clear token", "seed \(seed)")
        if !owner { #expect(probe.lock.isOpen, "seed \(seed)") }
        _ = probe.pass(.seconds(40_000))
        expect(probe.lock.isMoving, false)
      }
    }
  }

  @Test("one seed gives one trace")
  func deterministic() {
    let traces = (0..<2).map { _ in
      var attack = Attack(.sesame5, [], seed: 9)
      return (0..<300).map { _ in
        attack.step()
        return "\(attack.heard) \(attack.probe.lock.angle(at: attack.probe.now).units) \(attack.probe.now)"
      }
    }
    expect(traces[0], traces[1])
  }
}
