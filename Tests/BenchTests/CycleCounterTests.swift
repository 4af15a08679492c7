@testable import Bench
import CallFaults
import Databases
import SesameDevice
import System
import Conformance
import Glibc
import Basics
import TestSupport
import Testing
@testable import Transports

@Suite("A counter of cycles")
struct CycleCounterTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/state.sqlite" }

  @Test("it goes on counting where the last run ended, each lock for itself")
  func goesOn() throws {
    do {
      let first = try CycleCounter(of: "a", in: path)
      expect(first.total, 0)
      try first.count("lock")
      try first.count("unlock", returnsByItself: true)
      expect(first.total, 3)
    }
    let second = try CycleCounter(of: "a", in: path)
    expect([second.total, second.ledger.awaited], [3, 1])
    try second.count("lock")
    expect([try CycleCounter(of: "a", in: path).total, try CycleCounter(of: "b", in: path).total], [4, 0])
  }

  @Test("who does not know what another one has counted counts no more")
  func exclusive() throws {
    let first = try CycleCounter(of: "a", in: path)
    let second = try CycleCounter(of: "a", in: path)
    try second.count("lock")
    #expect(throws: LabFault(.noDevice, "another run uses this lock: it counts in \(path)")) {
      try first.count("lock")
    }
    expect(try CycleCounter(of: "a", in: path).total, 1)
    // What is none of a motor's is taken down, whoever comes with it.
    try first.noteServed()
    try second.count("unlock")
  }

  @Test("where it cannot be written, nothing may move")
  func unwritable() {
    #expect(throws: LabFault.self) { try CycleCounter(of: "a", in: folder.path) }
    #expect(throws: LabFault.self) { try CycleCounter(of: "a", in: "/dev/null/state.sqlite") }
  }

  @Test("where nobody can say that its name is on the disk, nothing may move")
  func unsureName() async {
    // What is done to calls is done to those of the whole process, and so this has one of its own.
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      SQLiteCalls.interpose()
      // Whatever is done when it is closed comes too late to matter.
      var counter: CycleCounter?
      let needed = try FaultGate.calls {
        counter = try CycleCounter(of: "a", in: path + "/0/state.sqlite")
        try counter?.count("lock")
      }.filter { $0.call.hasPrefix("synchronize@") }
      #expect(needed.contains { $0.call.hasPrefix("synchronize@SQLite") })
      expect(needed.filter { !$0.call.hasPrefix("synchronize@SQLite") }.reduce(0) { $0 + $1.count }, 3)
      var round = 0
      for call in needed {
        for number in 1...call.count {
          let fault = try #require(CallFault("\(call.call)#\(number)=EIO"))
          round += 1
          let (failed, hasHappened) = FaultGate.with(fault) {
            (try? CycleCounter(of: "a", in: "\(path)/\(round)/state.sqlite").count("lock")) == nil
          }
          #expect(hasHappened && failed, "\(fault)")
        }
      }
    }
  }

  @Test("a folder is not made where nobody can say that its name is on the disk")
  func unsureFolder() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let needed = try FaultGate.calls { try makeFolder(path + "/0/a/b") }
        .filter { $0.call.hasPrefix("synchronize@") }
      expect(needed.map(\.count), [3])
      for number in 1...3 {
        let fault = try #require(CallFault("\(needed[0].call)#\(number)=EIO"))
        #expect(throws: FileFault.self, "\(fault)") {
          _ = try FaultGate.with(fault) { try makeFolder("\(path)/\(number)/a/b") }
        }
      }
    }
  }

  @Test("a loss of power takes no movement from it, nor the folders that were made for it")
  func powerLoss() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      _ = try FaultGate.with(try #require(CallFault("access@power:1#1=power-loss"))) {
        SQLiteCalls.interpose()
        try CycleCounter(of: "a", in: path + "/state/lockstep/state.sqlite").count("lock")
        _ = Kernel.access(path, F_OK, file: "power", line: 1)
      }
    }
    expect(try CycleCounter.known(of: "a", in: folder.path + "/state/lockstep/state.sqlite")?.total, 1)
  }

  @Test("killed at any moment, it never counts less than the motor moved", arguments: 0..<8)
  func killed(round: Int) async throws {
    let path = path
    let moves = folder.path + "/moves"
    let delay = 1_000 + round * 4_321
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, moves = moves as String, delay = delay as Int] in
      let motor = ToyLock.Motor()
      let file = unsafe open(moves, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      motor.didMove = { _ = unsafe write(file, "m", 1) }
      let lock = Interlock(
        ToyLock(motor), InterlockSettings(budget: 100_000_000),
        try CycleCounter(of: "toy", in: path) { motor.clock })
      lock.adopt(ToyLock.vocabulary)
      try lock.open()
      try lock.pass(.seconds(2))
      try lock.give("toggle")
      try lock.pass(.seconds(2))
      signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
      var timer = itimerval()
      timer.it_value.tv_usec = delay
      unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
      while true {
        try lock.give("toggle")
        try lock.pass(.seconds(2))
      }
    }
    let moved = folder.read("moves").count
    #expect(moved > 0)
    #expect(try CycleCounter(of: "toy", in: path).total >= moved)
  }

  @Test("several processes at once, each killed at any moment, keep to the limits of one", arguments: 0..<3)
  func together(round: Int) async throws {
    let path = path
    let moves = folder.path + "/moves"
    await withTaskGroup(of: Void.self) { group in
      for child in 0..<4 {
        let delay = 240_000 + (round * 4 + child) * 133_579
        group.addTask { await Self.compete(for: path, moves, killedAfter: delay) }
      }
    }
    // When the motor started, in microseconds, by whoever moved it.
    let times = folder.read("moves").split(separator: "\n").compactMap { Int64($0) }.sorted()
    #expect(times.count > 3)
    #expect(times.count <= 30, "\(times.count) movements of 30 an hour")
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 3000 }, "\(times)")
    #expect(try CycleCounter(of: "toy", in: path).total >= times.count)
  }

  private static func compete(for path: String, _ moves: String, killedAfter delay: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, moves = moves as String, delay = delay as Int] in
      signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
      var timer = itimerval()
      (timer.it_value.tv_sec, timer.it_value.tv_usec) = (delay / 1_000_000, delay % 1_000_000)
      let file = unsafe open(moves, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      let limits = LockLimits(gap: .milliseconds(3), perHour: 30)
      var isTimed = false
      while true {
        // The time runs from when the motor has moved a few times, by whichever process, however busy the machine is. A line of
        // a movement has at most 15 bytes.
        if !isTimed, lseek(file, 0, SEEK_END) > 60 {
          isTimed = true
          unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
        }
        // Only who has the lock may move it, and the others have to wait for their turn.
        guard let lease = try? Lease(of: "toy", for: "a test", in: Path.folder(of: path)),
          let cycleCounter = try? CycleCounter(of: "toy", in: path)
        else { continue }
        defer { withExtendedLifetime(lease) {} }
        let motor = ToyLock.Motor()
        motor.didMove = {
          let line = Array("\(BenchClock.now.uptime.nanoseconds / 1000)\n".utf8)
          _ = unsafe write(file, line, line.count)
        }
        let lock = Interlock(ToyLock(motor), InterlockSettings(limits: limits, budget: 1000), cycleCounter)
        lock.adopt(ToyLock.vocabulary)
        guard (try? lock.open()) != nil else { continue }
        for _ in 0..<5 {
          _ = try? lock.give("toggle")
          usleep(1000)
        }
      }
    }
  }
}
