@testable import Workbench
import Foundation
import Basics
import TestSupport
import Testing

@Suite("Leases among processes", .timeLimit(.minutes(10)))
struct LeaseContestTests {
  private let folder = TestFolder()

  private func hold(isCanary: Bool = false) -> LeaseContest? {
    LeaseContest.hold(
      LeaseContest.Rules(acquisitions: 600, processes: 8, leases: 3, isCanary: isCanary),
      program: BuiltProgram.workbench, in: folder.path, seed: 7, limit: .seconds(60))
  }

  @Test("no two processes ever have one, though holders are killed, and what they had is free at once")
  func contest() throws {
    let contest = try #require(hold())
    #expect(contest.acquisitions >= 600 && contest.kills > 3, "\(contest)")
    expect(contest.overlaps, 0)
    #expect(contest.freed > .zero && contest.freed < .seconds(2), "\(contest)")
  }

  @Test("a contest without leases is noticed")
  func canary() throws {
    let contest = try #require(hold(isCanary: true))
    #expect(contest.overlaps > 0, "\(contest)")
  }

  @Test("what the tests have added is in the workbench alone")
  func alone() throws {
    for name in [
      "lease-contestant", "air-search", "exec-reference", "air-table", "simulated-nights", "faulty",
    ] {
      let answer = try Program.run(BuiltProgram.lockstep, [name, "a", "b", "c", "version"])
      expect(answer.status, 2)
      #expect(String(decoding: answer.errors, as: UTF8.self).contains("unknown command '\(name)'"))
    }
    expect(try Program.run(BuiltProgram.workbench, ["lease-contestant", "a", "b", "c"]).status, 2)
    expect(try Program.run(BuiltProgram.workbench, ["version"]).status, 0)
  }
}
