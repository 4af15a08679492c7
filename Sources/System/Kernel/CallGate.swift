import Basics
import Glibc
import Synchronization

/// What happens to one call of ``Kernel``, of all that a process makes, so that a test sees what comes of it.
///
/// It is written `write@System/Descriptors.swift:12#3=ENOSPC`: the third write that stands there fails for want of room.
public struct CallFault: Hashable, Sendable {
  /// What happens.
  public enum Kind: Hashable, Sendable {
    /// The call is not made, and fails.
    case error(Int32)
    /// No call that needs room on the disk succeeds from this one on.
    case fullDisk
    /// Half of what was asked for is done.
    case short
    /// The process is killed before the call is made.
    case deathBefore
    /// The process is killed after the call was made, before anybody learns what came of it.
    case deathAfter
    /// The machine loses its power: what nobody had synchronized is gone from the disk, with the process.
    case powerLoss
    /// The call is not made and yet succeeds: what a program does that does not look at what a call gave back, or forgot
    /// to make it. The tests of tests are made of it.
    case pretence
  }

  /// Which call.
  public var call: String
  /// Which of its kind, from 1.
  public var number: Int
  /// What happens to it.
  public var kind: Kind
}

extension CallFault {
  private static let kinds: [(name: String, kind: Kind)] = [
    ("full-disk", .fullDisk), ("short", .short), ("death-before", .deathBefore), ("death-after", .deathAfter),
    ("power-loss", .powerLoss), ("pretence", .pretence),
  ]

  /// Reads one; `nil` for what is none.
  public init?(_ text: String) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let mark = parts[0].lastIndex(of: "#"),
      let number = Int(parts[0][mark...].dropFirst()), number > 0
    else { return nil }
    call = String(parts[0][..<mark])
    self.number = number
    let name = String(parts[1])
    if let code = SystemCall.errorNames.first(where: { $0.name == name })?.code {
      kind = .error(code)
    } else if let kind = Self.kinds.first(where: { $0.name == name })?.kind {
      self.kind = kind
    } else {
      return nil
    }
  }

  /// Everything that may happen to a call of a kind.
  public static func names(for call: SystemCall) -> [String] {
    let errors = call.errors.compactMap { code in SystemCall.errorNames.first { $0.code == code }?.name }
    let isRoom = call.errors.contains(ENOSPC)
    return errors + (isRoom ? ["full-disk"] : []) + (call.canBeShort ? ["short"] : [])
      + ["death-before", "death-after"]
  }
}

/// Stands before the calls of a process and has some of them fail.
public final class CallGate: @unchecked Sendable {
  private struct State {
    var faults: [CallFault]
    var counts: [String: Int] = [:]
    var isFull = false
  }

  private let state: Mutex<State>
  /// Where each call is written down; below zero for nowhere.
  private let record: Int32
  /// Whether each call is written down, and not only those that something happens to.
  private let recordsAll: Bool
  /// The only thread whose calls it stands before; `nil` for all.
  private let thread: pthread_t?
  private let words: [String]
  /// What a loss of power leaves, where there will be one.
  let disk: DiskMemory?

  init(
    _ faults: [CallFault], record: Int32, recordsAll: Bool, thread: pthread_t?, words: [String] = []
  ) {
    state = Mutex(State(faults: faults))
    self.record = record
    self.recordsAll = recordsAll
    self.thread = thread
    self.words = words
    disk = faults.contains { $0.kind == .powerLoss } ? DiskMemory() : nil
  }

  /// Puts a gate before every call of this process, for as long as it lives.
  ///
  /// - Parameters:
  ///   - faults: what happens to which call.
  ///   - record: a file to which each call is added that is made, or to which something happens where there are faults.
  ///   - words: what goes before the arguments of processes of this program that this one starts.
  public static func install(_ faults: [CallFault], record: String, words: [String]) {
    let descriptor = unsafe Glibc.open(record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    unsafe Kernel.gate = CallGate(
      faults, record: descriptor, recordsAll: faults.isEmpty, thread: nil, words: words)
  }

  /// Runs something in this thread with one fault.
  ///
  /// - Returns: what came of it, and whether there was such a call.
  @discardableResult
  public static func with<Result>(
    _ fault: CallFault, _ body: () throws -> Result
  ) rethrows -> (result: Result, hasHappened: Bool) {
    let gate = Self.stand([fault])
    defer { unsafe Kernel.gate = nil }
    let result = try body()
    return (result, gate.state.withLock { $0.counts[fault.call] ?? 0 >= fault.number })
  }

  /// The calls that something makes in this thread, each with how often it is made.
  public static func calls(of body: () throws -> Void) rethrows -> [(call: String, count: Int)] {
    let gate = Self.stand([])
    defer { unsafe Kernel.gate = nil }
    try body()
    return gate.state.withLock { $0.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  }
}

extension CallGate {
  /// Puts a gate before the calls of this thread. It is never let go of: another thread may look at it just now.
  private static func stand(_ faults: [CallFault]) -> CallGate {
    let gate = CallGate(faults, record: -1, recordsAll: false, thread: pthread_self())
    _ = unsafe Unmanaged.passRetained(gate)
    unsafe Kernel.gate = gate
    return gate
  }

  /// Makes a call, unless something else happens to it.
  ///
  /// - Parameters:
  ///   - pretended: what a call gives back that is not made and is said to have been.
  ///   - body: makes it; told whether it is to do half of what was asked for.
  func pass<Result: SignedInteger & FixedWidthInteger>(
    _ call: SystemCall, _ site: Site, pretending pretended: Result, _ body: (_ isShort: Bool) -> Result
  ) -> Result {
    switch ruling(call, "\(site)") {
    case nil: return body(false)
    case .short: return body(true)
    case .pretence: return pretended
    case .error(let code):
      // The system lets go of a descriptor also where closing it fails.
      if call == .close { _ = body(false) }
      errno = code
      return -1
    case .fullDisk:
      errno = ENOSPC
      return -1
    case .deathBefore: die()
    case .powerLoss:
      disk?.losePower()
      die()
    case .deathAfter:
      _ = body(false)
      die()
    }
  }

  /// What happens to a call that a library makes; its number of the error where it fails.
  ///
  /// - Parameter place: what the call is for, in place of a line of ours.
  public func error(_ call: SystemCall, _ place: String) -> Int32? {
    switch ruling(call, place) {
    case .error(let code): return code
    case .fullDisk: return ENOSPC
    case .powerLoss:
      disk?.losePower()
      die()
    case .deathBefore, .deathAfter: die()
    case nil, .short, .pretence: return nil
    }
  }

  /// What goes before the arguments of a process of this program that this one starts, so that it has the same gate.
  static var wordsForChildren: [String] { unsafe Kernel.gate?.words ?? [] }

  /// The gate that stands before the calls of this process, if one does.
  public static var current: CallGate? { unsafe Kernel.gate }

  private func ruling(_ call: SystemCall, _ place: String) -> CallFault.Kind? {
    if let thread, pthread_equal(thread, pthread_self()) == 0 { return nil }
    let name = "\(call.rawValue)@\(place)"
    return state.withLock { state in
      let number = (state.counts[name] ?? 0) + 1
      state.counts[name] = number
      let fault = state.faults.first { $0.call == name && $0.number == number }
      if recordsAll || fault != nil { write("\(name)#\(number)") }
      if fault?.kind == .fullDisk { state.isFull = true }
      if state.isFull, call.errors.contains(ENOSPC) { return .fullDisk }
      return fault?.kind
    }
  }

  private func write(_ text: String) {
    guard record >= 0 else { return }
    let bytes = Array((text + "\n").utf8)
    _ = unsafe Glibc.write(record, bytes, bytes.count)
  }

  private func die() -> Never { Host.killOurselves() }
}
