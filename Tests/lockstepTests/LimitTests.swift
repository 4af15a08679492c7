import Foundation
import TestSupport
import Testing

/// The limits of a lock in the bench's file, over the air and from process to process.
@Suite("What a bench says that a lock may be asked of", .timeLimit(.minutes(10)))
struct LimitTests {
  private let folder: Command.Folder

  init() throws {
    folder = try Command.Folder()
    try folder.write(
      "there.yaml", visit("There and back", "unlock", "until: { status: unlocked }", "disconnect"))
  }

  private func bench(_ lock: String = "sesame5", limits: String) throws -> EmulatedBench {
    let bench = try EmulatedBench(
      [lock, "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"], in: folder)
    try folder.write(
      "bench.yaml",
      """
      bench: test
      dongles: [{ name: air, transport: "\(bench.transports[0])" }]
      locks: [{ name: door, file: lock.yaml, limits: { \(limits) } }]

      """)
    return bench
  }

  private func run() throws -> Command.Result {
    try Command.shell(
      "LOCKSTEP_STATE=$PWD/state/lockstep \"$LOCKSTEP\" run there.yaml --bench bench.yaml --device lock:door --out Reports",
      in: folder.path)
  }

  @Test("the budget of the hour holds for all processes, and it is said when it may go on")
  func hour() throws {
    let bench = try bench(limits: "per-hour: 4")
    defer { bench.stop() }
    for count in [2, 4] {
      let result = try run()
      expect(result.status, 0)
      expect(folder.movements(), count)
    }
    let refused = try run()
    expect(refused.status, 6)
    #expect(
      refused.output.contains(
        "stopped by a safety limit: unlock came too early: 4 movements were made in the last hour; the limit is 4, "
          + "including one for parking; it may go on in "), "\(refused.output)")
    #expect(refused.errors.contains("the lock rests locked"), "\(refused.errors)")
    expect(folder.movements(), 4)
  }

  @Test("a lock with a bad battery is left alone, and its next case is not begun")
  func battery() throws {
    let bench = try bench("sesame5?battery=5.1", limits: "battery-floor: 20 %")
    defer { bench.stop() }
    let first = try run()
    expect(first.status, 6)
    #expect(
      first.output.contains("the battery is at 10 %, and below 20 % the lock is left alone"),
      "\(first.output)")
    let second = try run()
    expect(second.status, 6)
    #expect(
      second.output.contains("the case is not begun: the battery is at 10 %"), "\(second.output)")
    expect(folder.movements(), 0)
  }
}
