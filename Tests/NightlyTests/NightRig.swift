import Basics
import Conformance
import Journal

@testable import Nightly

/// Seconds since the night began.
func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

/// What the clocks of the machine say when a night begins.
let clock = BenchTime(
  wall: WallTime(text: "2026-11-22T02:00:00.000Z")!, boot: "3f2a9c01", uptime: at(500))

/// A night, what it wrote, and what it asked for.
struct Rig {
  var night: Night
  var record: [NightLine] = []
  var numbers: [Int] = []
  let settings: NightSettings
  let cases: [NightCase], locks: [NightLock], dongles: [NightDongle]

  init(
    _ cases: [NightCase], _ settings: NightSettings = NightSettings(duration: .seconds(3600)),
    locks: [NightLock] = [NightLock(name: "front", dongles: ["blue"])],
    dongles: [NightDongle] = [NightDongle(name: "blue")]
  ) {
    (self.settings, self.cases, self.locks, self.dongles) = (settings, cases, locks, dongles)
    night = Night(settings, name: "test", cases: cases, locks: locks, dongles: dongles)
  }

  /// What it does next, a word each; lines go to the record.
  mutating func receive(_ event: NightEvent, at seconds: Int64) -> [String] {
    carryOut(night.receive(event, at: at(seconds)))
  }

  private mutating func carryOut(_ actions: [NightAction]) -> [String] {
    actions.compactMap { action in
      switch action {
      case .record(let line):
        record.append(line)
        return switch line {
        case .done(let identity, let result, _): "\(identity): \(result.name)"
        case .out(.lock(let name), _, _): "\(name) is out"
        case .out(.dongle(let name), _, _): "\(name) is out"
        default: nil
        }
      case .start(let attempt):
        numbers.append(attempt.number)
        let work =
          switch attempt.work {
          case .test(let identity): identity
          case .fuzz(let time): "fuzz for \(time)"
          case .park: "rest"
          }
        return "start \(attempt.number): \(work) on \(attempt.lock)"
          + (attempt.dongle.map { " over \($0)" } ?? "")
      case .stop(let number): return "stop \(number)"
      case .kill(let number): return "kill \(number)"
      case .finish: return "finish"
      }
    }
  }

  /// Kills the process of the night, and resumes the night from the first lines of its record.
  mutating func crash(keeping count: Int? = nil) {
    record = Array(record.prefix(count ?? record.count))
    // As it comes back from a disk.
    let bytes = record.map { $0.json.line + "\n" }.joined() + #"{"end":{"ru"#
    record = (try? NightLine.lines(of: Array(bytes.utf8))) ?? []
    night = Night(settings, name: "test", cases: cases, locks: locks, dongles: dongles, resuming: record)
  }

  func results() -> [String] {
    night.cases.map { state in
      let result = night.reason(for: state)
      return "\(state.test.identity): \(result.name)"
        + (result.reason.isEmpty ? "" : ", \(result.reason)")
    }
  }
}

func test(
  _ identity: String, on lock: String = "front", retries: Int = 0, actuations: Int = 10
) -> NightCase {
  NightCase(
    identity: identity, suite: "smoke", file: identity + ".yaml", lock: lock, timeout: .seconds(60),
    retries: retries, actuations: actuations)
}

func good(_ cycleCounter: Int) -> NightEnding {
  NightEnding(.agreed, cycleCounter: cycleCounter, park: .parked)
}
