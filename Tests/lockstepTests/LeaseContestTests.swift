@testable import Bench
import Foundation
import Basics
import TestSupport
import Testing

@Suite("Leases among processes", .timeLimit(.minutes(10)))
struct LeaseContestTests {
  private let folder: Command.Folder

  init() throws { folder = try Command.Folder() }

  private func hold(isCanary: Bool = false) -> LeaseContest? {
    LeaseContest.hold(
      LeaseContest.Rules(acquisitions: 600, processes: 8, leases: 3, isCanary: isCanary),
      program: Command.path, in: folder.path, seed: 7, limit: .seconds(60))
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

  @Test("the command of the contest is for the bench alone")
  func alone() throws {
    expect(try Command.run("lease-contestant", "a", "b", "c").status, 2)
    #expect(!(try Command.run("--help").output).contains("lease-contestant"))
  }
}
