import Foundation
import TestSupport
import Testing

@Suite("A cycle counter and the motor that it counts", .timeLimit(.minutes(10)))
struct CycleCounterKillTests {
  @Test("runs are killed at any moment, and the cycle counter never says less than the lock itself")
  func killed() throws {
    let folder = try Command.Folder()
    try folder.write(
      "turns.yaml", visit("Many turns", "repeat: { times: 20, steps: [toggle, { wait: 100 ms }] }"))
    let bench = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"], in: folder)
    defer { bench.stop() }
    var random = SystemRandomNumberGenerator()
    func starts() throws -> Int { try bench.said.split(separator: "the motor starts").count - 1 }
    for round in 0..<8 {
      // In the first rounds before any movement, too, and then at any moment of one.
      let turns = try starts() + round / 2
      let process = try Command.start(drive: ["turns.yaml"], bench, out: try Command.Folder())
      try eventually(by: process) { try starts() >= turns }
      usleep(UInt32.random(in: 0...500_000, using: &random))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      // What was sent before may still be on its way, and the motor with it.
      usleep(300_000)
      #expect(try folder.movements() >= starts(), "round \(round)")
    }
    #expect(try starts() > 4)
  }
}
