import Basics
import Bench
import Conformance
import Harness
import Journal
import System
import TestSupport
import Testing

@testable import Nightly

@Suite("A plan joined with its bench")
struct NightlyLabTests {
  /// The cases of a plan, a word each.
  private func cases(_ lab: NightlyLab) -> [String] {
    lab.cases.map { test in
      let name = test.file.split(separator: "/").last ?? ""
      return "\(test.suite): \(name) \(test.round) on \(test.lock ?? "no lock")"
    }
  }

  @Test("runs each suite on all locks with its tags, and a case of two suites once")
  func suites() throws {
    let floor = NightFloor(
      suites: """
        { name: smoke, scenarios: [a.yaml, b.yaml], tags: [new] }
          - { name: again, scenarios: [b.yaml, c.yaml], tags: [new, real] }
          - { name: long, scenarios: old.yaml, tags: [old], repeat: 2 }
        """)
    let (lab, said) = try floor.lab()
    expect(
      cases(lab),
      [
        "smoke: a.yaml 1 on front", "smoke: b.yaml 1 on front", "smoke: a.yaml 1 on back",
        "smoke: b.yaml 1 on back", "again: c.yaml 1 on front", "long: old.yaml 1 on old",
        "long: old.yaml 2 on old",
      ])
    expect(said, "")
    expect(Set(lab.cases.map(\.identity)).count, lab.cases.count)
    expect(lab.tests.map(\.file), lab.cases.map(\.file))
    // A night that is resumed finds the same cases.
    expect(try floor.lab().lab.cases, lab.cases)
  }

  @Test("gives each case the limits of its suite")
  func limits() throws {
    let floor = NightFloor(
      suites:
        "{ name: smoke, scenarios: a.yaml, tags: [real], case-timeout: 1 min, retries: 2, actuations: 50 }")
    let lab = try floor.lab().lab
    expect(
      lab.cases,
      [
        NightCase(
          identity: lab.cases[0].identity, suite: "smoke", file: floor.path + "/a.yaml", lock: "front",
          timeout: .seconds(60), retries: 2, actuations: 50)
      ])
  }

  @Test("knows of each lock its dongles, its motor, its limits and whether it is fuzzed")
  func locks() throws {
    let lab = try NightFloor(plan: "fuzz: { machine: sesame, tags: [new] }\n").lab().lab
    expect(
      lab.locks,
      [
        NightLock(name: "front", dongles: ["blue", "red"], perShift: 200, isFuzzed: true),
        NightLock(name: "back", dongles: nil, isFuzzed: true), NightLock(name: "old", dongles: nil),
      ])
    expect(lab.dongles, [NightDongle(name: "blue"), NightDongle(name: "red")])
    expect(lab.locks.map(\.isReal), [true, false, false])
    expect(lab.unmet, [])
  }

  @Test("a lock with controls is moved without wear")
  func control() throws {
    let floor = NightFloor()
    floor.folder.write(
      "bench.yaml",
      """
      bench: floor
      dongles: [{ name: blue, transport: "tcp-client:127.0.0.1:7001" }]
      locks: [{ name: front, file: lock.yaml, tags: [new], control: "unix:\(floor.path)/control" }]

      """)
    expect(try floor.lab().lab.locks, [NightLock(name: "front", dongles: ["blue"], isReal: false)])
  }

  @Test("a suite and fuzzing without a lock are planned, reported, and not run")
  func unmet() throws {
    let floor = NightFloor(
      suites: """
        { name: smoke, scenarios: a.yaml, tags: [real] }
          - { name: lost, scenarios: [a.yaml, b.yaml], tags: [new, gone], repeat: 2 }
        """, plan: "fuzz: { machine: sesame, tags: [gone] }\n")
    let (lab, said) = try floor.lab()
    expect(
      cases(lab),
      [
        "smoke: a.yaml 1 on front", "lost: a.yaml 1 on no lock", "lost: a.yaml 2 on no lock",
        "lost: b.yaml 1 on no lock", "lost: b.yaml 2 on no lock",
      ])
    expect(lab.cases.map(\.unmet), [nil] + Array(repeating: "no lock has the tags new, gone", count: 4))
    expect(lab.unmet, ["nothing is fuzzed: no lock has the tags gone"])
    expect(
      said,
      "lockstep: suite lost: no lock has the tags new, gone\nlockstep: nothing is fuzzed: no lock has the tags gone\n"
    )
    expect(Set(lab.cases.map(\.identity)).count, 5)
  }

  @Test("a bench without locks has none for a suite without tags")
  func noLocks() throws {
    let floor = NightFloor(suites: "{ name: smoke, scenarios: a.yaml }", plan: "fuzz: { machine: sesame }\n")
    floor.folder.write("bench.yaml", "bench: empty\nlocks: []\n")
    let lab = try floor.lab().lab
    expect(lab.cases.map(\.unmet), ["there is no lock"])
    expect(lab.unmet, ["nothing is fuzzed: there is no lock"])
  }

  @Test("quarantine holds to its last day, for the scenario and the lock that it names")
  func quarantine() throws {
    let floor = NightFloor(
      bench: """
        quarantine:
          - { lock: front, scenario: a.yaml, reason: cold, owner: ada, expires: 2026-11-22 }
          - { lock: back, reason: slow, owner: bob, expires: 2026-11-30 }

        """)
    let (cold, slow) = ("until 2026-11-22, ada: cold", "until 2026-11-30, bob: slow")
    let table: [(day: String, quarantine: [String?], lapsed: [String])] = [
      ("2026-11-21", [cold, nil, slow, slow], []), ("2026-11-22", [cold, nil, slow, slow], []),
      ("2026-11-23", [nil, nil, slow, slow], [cold]), ("2026-12-01", [nil, nil, nil, nil], [cold, slow]),
    ]
    for (day, quarantine, lapsed) in table {
      let lab = try floor.lab(today: #require(Day(text: day))).lab
      expect(lab.cases.map(\.quarantine), quarantine)
      expect(lab.lapsed.map(\.description), lapsed)
    }
  }

  @Test("a case is another one when its scenario, its lock or its firmware is")
  func identities() throws {
    let floor = NightFloor(suites: "{ name: smoke, scenarios: old.yaml }")
    func identity(_ lock: String, _ scenario: String = "old") throws -> String {
      floor.folder.write("bench.yaml", "bench: floor\nlocks: [{ \(lock) }]\n")
      floor.folder.write(
        "old.yaml", "scenario: \(scenario)\nmachine: sesame\ndevice: sesame3\nsteps: [connect]\n")
      return try #require(try floor.lab().lab.cases.first).identity
    }
    let lock = #"name: old, device: "emulator:sesame3""#
    let first = try identity(lock)
    let others = [
      try identity(#"name: other, device: "emulator:sesame3""#),
      try identity(#"name: old, device: "emulator:sesame3?battery=5.1""#),
      try identity(lock + ", firmware: \"2.0\""), try identity(lock, "other"),
    ]
    expect(Set(others + [first]).count, 5)
    // Tags, limits and the order of the bench do not matter.
    expect(try identity(lock + ", tags: [old]"), first)
  }

  @Test("a plan that cannot be carried out is refused before anything begins")
  func refused() throws {
    let table: [(name: String, text: String, words: String)] = [
      ("a.yaml", "scenario: a\n", "suite smoke: its scenarios cannot be read"),
      (
        "bench.yaml", "bench: a\nlocks: [{ name: front, file: lock.yaml, tags: [new] }]\n",
        "no dongle reaches the lock 'front'"
      ),
      ("plan.yaml", "nightly: N\n", "missing key `duration`"),
    ]
    for (name, text, words) in table {
      let floor = NightFloor()
      floor.folder.write(name, text)
      let error = #expect(throws: UsageError.self) { _ = try floor.lab() }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
    let floor = NightFloor()
    _ = floor.folder.write("open.yaml", floor.folder.read("lock.yaml"), mode: 0o644)
    floor.folder.write(
      "bench.yaml", floor.folder.read("bench.yaml").replacing("lock.yaml", with: "open.yaml"))
    let error = #expect(throws: UsageError.self) { _ = try floor.lab() }
    #expect(
      error?.message.contains("front: \(floor.path)/open.yaml: others can read") == true,
      "\(error?.message ?? "")")
  }
}
