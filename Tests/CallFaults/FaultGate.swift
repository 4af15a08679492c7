import Glibc
import Synchronization
package import System

/// Stands before the calls of a process and has some of them fail.
package final class FaultGate: CallGate, @unchecked Sendable {
  private struct State {
    var faults: [CallFault]
    var counts: [String: Int] = [:]
    var isFull = false
  }

  private let state: Mutex<State>
  /// The descriptor to which each call is logged; negative where none is.
  private let record: Int32
  /// Whether each call is written down, and not only those that something happens to.
  private let recordsAll: Bool
  /// The only thread whose calls it stands before; `nil` for all.
  private let thread: pthread_t?
  package let wordsForChildren: [String]
  /// What a loss of power leaves, where there will be one.
  let disk: DiskMemory?

  private init(
    _ faults: [CallFault], record: Int32, recordsAll: Bool, thread: pthread_t?, words: [String] = []
  ) {
    state = Mutex(State(faults: faults))
    self.record = record
    self.recordsAll = recordsAll
    self.thread = thread
    wordsForChildren = words
    disk = faults.contains { $0.kind == .powerLoss } ? DiskMemory() : nil
  }

  /// Puts a gate before every call of this process, for as long as it lives.
  ///
  /// - Parameters:
  ///   - faults: what happens to which call.
  ///   - record: a file to which each call is added that is made, or to which something happens where there are faults.
  ///   - words: what goes before the arguments of processes of this program that this one starts.
  package static func install(_ faults: [CallFault], record: String, words: [String]) {
    let descriptor = unsafe Glibc.open(record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    unsafe Kernel.gate = FaultGate(
      faults, record: descriptor, recordsAll: faults.isEmpty, thread: nil, words: words)
  }

  /// Runs something in this thread with one fault.
  ///
  /// - Returns: what came of it, and whether there was such a call.
  @discardableResult
  package static func with<Result>(
    _ fault: CallFault, _ body: () throws -> Result
  ) rethrows -> (result: Result, hasHappened: Bool) {
    let gate = Self.stand([fault])
    defer { unsafe Kernel.gate = nil }
    let result = try body()
    return (result, gate.state.withLock { $0.counts[fault.call] ?? 0 >= fault.number })
  }

  /// The calls that something makes in this thread, each with how often it is made.
  package static func calls(of body: () throws -> Void) rethrows -> [(call: String, count: Int)] {
    let gate = Self.stand([])
    defer { unsafe Kernel.gate = nil }
    try body()
    return gate.state.withLock { $0.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  }

  /// Puts a gate before the calls of this thread. It is never let go of: another thread may look at it just now.
  private static func stand(_ faults: [CallFault]) -> FaultGate {
    let gate = FaultGate(faults, record: -1, recordsAll: false, thread: pthread_self())
    _ = unsafe Unmanaged.passRetained(gate)
    unsafe Kernel.gate = gate
    return gate
  }

  /// The gate that stands before the calls of this process, if one does.
  static var current: FaultGate? { unsafe Kernel.gate as? FaultGate }
}

extension FaultGate {
  package func pass(
    _ call: SystemCall, _ site: Site, on subject: CallSubject, pretending pretended: Int,
    _ body: (_ isShort: Bool) -> Int
  ) -> Int {
    switch ruling(call, "\(site)") {
    case nil: return disk?.noting(call, subject) { body(false) } ?? body(false)
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

  private func ruling(_ call: SystemCall, _ place: String) -> CallFault.Kind? {
    if let thread, pthread_equal(thread, pthread_self()) == 0 { return nil }
    let name = "\(call.rawValue)@\(place)"
    return state.withLock { state in
      let number = (state.counts[name] ?? 0) + 1
      state.counts[name] = number
      let fault = state.faults.first { $0.call == name && $0.number == number }
      if recordsAll || fault != nil { write("\(name)#\(number)") }
      if fault?.kind == .fullDisk { state.isFull = true }
      if state.isFull, call.needsRoom { return .fullDisk }
      return fault?.kind
    }
  }

  private func write(_ text: String) {
    guard record >= 0 else { return }
    let bytes = Array((text + "\n").utf8)
    _ = unsafe Glibc.write(record, bytes, bytes.count)
  }

  private func die() -> Never { Host.killProcess() }
}
