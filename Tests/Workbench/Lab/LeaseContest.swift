import Bench
import System
import Glibc
import Basics
import Synchronization

/// Many processes that want a few leases, of which whoever has one may be killed: whether two ever have one at a time,
/// and how soon a lease is free whose holder was killed.
///
/// The judge does not trust the kernel's locks. Each holder puts its number in a cell of memory that all share, looks
/// at the cell as long as it holds the lease, and finds another's number there when it is not alone; and each writes
/// down when it began and ended, in one file that is read when all is over.
struct LeaseContest: Equatable, Sendable {
  /// How often a lease was taken.
  private(set) var acquisitions = 0
  /// How many holders were killed.
  private(set) var kills = 0
  /// How often two had one lease at a time, or one token twice.
  private(set) var overlaps = 0
  /// The longest time from the death of a holder to the next acquisition of its lease.
  private(set) var freed = Interval.zero

  /// What the contest is about.
  struct Rules: Sendable {
    /// After how many acquisitions it ends, once enough holders were killed.
    var acquisitions: Int
    /// How many holders are killed at least: on a busy machine the others may be done before.
    var kills = 4
    /// How many processes take part.
    var processes: Int
    /// How many leases there are.
    var leases: Int
    /// Whether they only pretend to take leases: then it must fail.
    var isCanary: Bool
    /// The words after the program's name that make it take part; three more follow.
    var arguments = ["lease-contestant"]

    /// Sets the rules.
    init(acquisitions: Int, processes: Int, leases: Int, isCanary: Bool = false) {
      self.acquisitions = acquisitions
      self.processes = processes
      self.leases = leases
      self.isCanary = isCanary
    }
  }

  /// Holds a contest.
  ///
  /// - Parameters:
  ///   - program: this program, or one that takes part as it does.
  ///   - folder: where the files of it go, a new one.
  ///   - seed: says who is killed, and when.
  ///   - limit: when it is given up.
  /// - Returns: what came of it, or `nil` when it could not be held.
  static func hold(
    _ rules: Rules, program: String, in folder: String, seed: UInt64, limit: Interval = .seconds(300)
  ) -> LeaseContest? {
    guard (try? makeFolder(folder)) != nil, let cells = Cells(folder, leases: rules.leases, isNew: true),
      let log = ContestLog(folder + "/contest.log")
    else { return nil }
    var referee = Referee(
      rules: rules, program: program, folder: folder, cells: cells, log: log,
      generator: SeededGenerator(seed: seed))
    guard referee.judge(until: MonotonicClock.now + limit) else { return nil }
    return LeaseContest(log: folder + "/contest.log", leases: rules.leases)
  }

  /// Takes part, until the contest is over or its referee is gone.
  ///
  /// - Parameters: the words that the referee adds to ``Rules/arguments``: the folder, the number of leases, and the
  ///   number of who takes part, with a `!` for a canary.
  /// - Returns: whether the words could be understood.
  static func takePart(_ words: [String]) -> Bool {
    guard words.count == 3, let leases = Int(words[1]), leases > 0,
      let number = UInt64(words[2].filter { $0 != "!" }),
      let cells = Cells(words[0], leases: leases, isNew: false),
      let log = ContestLog(words[0] + "/contest.log")
    else { return false }
    let contestant = Contestant(
      folder: words[0], leases: leases, cells: cells, log: log, isCanary: words[2].hasSuffix("!"))
    contestant.play(SeededGenerator(seed: number))
    return true
  }
}

extension LeaseContest {
  /// Removes what a contest left.
  static func clear(_ folder: String) {
    for name in folderEntries(folder) ?? [] { Kernel.unlink("\(folder)/\(name)") }
    _ = Kernel.rmdir(folder)
  }
}

// MARK: - What all share

/// Memory that all share: whether it is over, how often a lease was taken, and who has which.
@safe private final class Cells {
  private let memory: UnsafeMutableRawPointer
  private let size: Int

  init?(_ folder: String, leases: Int, isNew: Bool) {
    size = (leases + 2) * MemoryLayout<UInt64>.stride
    let flags = O_RDWR | O_CLOEXEC | (isNew ? O_CREAT | O_TRUNC : 0)
    let descriptor = Kernel.open(folder + "/cells", flags, 0o600)
    guard descriptor >= 0 else { return nil }
    defer { Kernel.close(descriptor) }
    guard !isNew || Kernel.ftruncate(descriptor, off_t(size)) == 0 else { return nil }
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return nil }
    unsafe self.memory = memory
  }

  deinit { unsafe munmap(memory, size) }

  private func cell(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe memory.assumingMemoryBound(to: Atomic<UInt64>.self) + index
  }

  var isOver: Bool { unsafe cell(0).pointee.load(ordering: .sequentiallyConsistent) != 0 }
  func finish() { unsafe cell(0).pointee.store(1, ordering: .sequentiallyConsistent) }

  var acquisitions: Int { Int(unsafe cell(1).pointee.load(ordering: .sequentiallyConsistent)) }
  func count() { unsafe cell(1).pointee.add(1, ordering: .sequentiallyConsistent) }

  func owner(_ lease: Int) -> Int32 {
    Int32(truncatingIfNeeded: unsafe cell(lease + 2).pointee.load(ordering: .sequentiallyConsistent))
  }

  /// Puts somebody in a cell, and gives who was there.
  func enter(_ lease: Int, _ process: Int32) -> Int32 {
    let before = unsafe cell(lease + 2).pointee.exchange(
      UInt64(process), ordering: .sequentiallyConsistent)
    return Int32(truncatingIfNeeded: before)
  }

  /// Leaves a cell; false when somebody else is in it.
  func leave(_ lease: Int, _ process: Int32) -> Bool {
    unsafe cell(lease + 2).pointee.compareExchange(
      expected: UInt64(process), desired: 0, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// A file that all write lines behind what others wrote.
private final class ContestLog {
  private let descriptor: Int32

  init?(_ path: String) {
    descriptor = Kernel.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
  }

  deinit { Kernel.close(descriptor) }

  /// Writes a line, whole or not at all.
  func write(_ line: String) {
    let bytes = Array(line.utf8)
    _ = unsafe Kernel.write(descriptor, bytes, bytes.count)
  }
}

// MARK: - Who takes part

/// One of the processes that want leases.
private struct Contestant {
  let folder: String
  let leases: Int
  let cells: Cells
  let log: ContestLog
  let isCanary: Bool

  func play(_ generator: SeededGenerator) {
    var generator = generator
    let me = getpid()
    let referee = getppid()
    while !cells.isOver, getppid() == referee {
      let number = generator.below(leases)
      var lease: Lease?
      if !isCanary {
        lease = try? Lease(of: "lock-\(number)", for: "a contest", in: folder)
        if lease == nil { continue }
      }
      let before = cells.enter(number, me)
      cells.count()
      note("begin", number, lease?.token ?? 0, before)
      // As long as somebody works with a lock, on another scale.
      let end = MonotonicClock.now + .microseconds(Int64(generator.below(1000)))
      var isAlone = true
      repeat { isAlone = isAlone && cells.owner(number) == me } while MonotonicClock.now < end
      isAlone = cells.leave(number, me) && isAlone
      note(isAlone ? "end" : "overlap", number, lease?.token ?? 0, 0)
      withExtendedLifetime(lease) {}
    }
  }

  private func note(_ word: String, _ lease: Int, _ token: UInt64, _ before: Int32) {
    log.write(
      "\(word) \(lease) \(getpid()) \(token) \(before) \(MonotonicClock.now.nanoseconds)\n")
  }
}

// MARK: - Who kills

/// Starts the processes, kills who has a lease, and starts another in its place.
private struct Referee {
  let rules: LeaseContest.Rules
  let program: String
  let folder: String
  let cells: Cells
  let log: ContestLog
  var generator: SeededGenerator
  var running: [pid_t] = []
  var started: UInt64 = 0
  var killed = 0

  mutating func judge(until limit: Interval) -> Bool {
    var isSound = true
    while isSound, cells.acquisitions < rules.acquisitions || killed < rules.kills {
      isSound = MonotonicClock.now < limit && fill()
      usleep(UInt32(5_000 + generator.below(30_000)))
      killHolder(of: generator.below(rules.leases))
    }
    cells.finish()
    for process in running {
      // Who is not done soon never will be.
      var status: Int32 = 0
      var tries = 0
      while Kernel.waitpid(process, &status, WNOHANG) == 0 {
        tries += 1
        if tries == 500 { Kernel.kill(process, SIGKILL) }
        usleep(10_000)
      }
      isSound = isSound && (status == 0 || status == SIGKILL)
    }
    return isSound
  }

  /// Starts as many as are missing.
  private mutating func fill() -> Bool {
    while running.count < rules.processes {
      started += 1
      let number = String(generator.below(1 << 30)) + (rules.isCanary ? "!" : "")
      var process: pid_t = 0
      let words = [program] + rules.arguments + [folder, String(rules.leases), number]
      let status = unsafe withArguments(words) { words in
        unsafe withEnvironment { unsafe Kernel.spawn(&process, program, nil, nil, words, $0) }
      }
      guard status == 0 else { return false }
      running.append(process)
    }
    return true
  }

  private mutating func killHolder(of lease: Int) {
    let process = cells.owner(lease)
    guard let index = running.firstIndex(of: process) else { return }
    log.write("kill \(lease) \(process) 0 0 \(MonotonicClock.now.nanoseconds)\n")
    Kernel.kill(process, SIGKILL)
    running.remove(at: index)
    killed += 1
    var status: Int32 = 0
    while Kernel.waitpid(process, &status, 0) < 0, errno == EINTR {}
  }
}

// MARK: - What was written down

extension LeaseContest {
  /// One line.
  private struct Note {
    var word: Substring
    var lease: Int
    var process: Int32
    var token: UInt64
    var before: Int32
    var time: Int64

    init?(_ line: Substring) {
      let parts = line.split(separator: " ")
      guard parts.count == 6, let lease = Int(parts[1]), let process = Int32(parts[2]),
        let token = UInt64(parts[3]), let before = Int32(parts[4]), let time = Int64(parts[5])
      else { return nil }
      word = parts[0]
      (self.lease, self.process, self.token, self.before, self.time) = (lease, process, token, before, time)
    }
  }

  /// Judges a contest by what was written down.
  private init?(log path: String, leases: Int) {
    guard let bytes = try? WholeFile.bytes(of: path) else { return nil }
    let notes = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Note($0) }
      .sorted { $0.time < $1.time }
    for lease in 0..<leases { judge(notes.filter { $0.lease == lease }) }
  }

  private mutating func judge(_ notes: [Note]) {
    var holder: Note?
    var killed: [Int32: Int64] = [:]
    var death: Int64?
    var token: UInt64 = 0
    for note in notes {
      switch note.word {
      case "begin":
        acquisitions += 1
        // Who was there before must have been killed, or have left.
        let others = [holder?.process, note.before == 0 ? nil : note.before].compactMap(\.self)
        if others.contains(where: { killed[$0] == nil }) { overlaps += 1 }
        if note.token <= token { overlaps += 1 }
        if let time = death { freed = max(freed, Interval(nanoseconds: note.time - time)) }
        death = nil
        token = note.token
        holder = note
      case "end":
        if holder?.process == note.process { holder = nil }
      case "overlap":
        overlaps += 1
        if holder?.process == note.process { holder = nil }
      case "kill":
        kills += 1
        killed[note.process] = note.time
        if holder?.process == note.process { death = note.time }
      default: break
      }
    }
  }
}
