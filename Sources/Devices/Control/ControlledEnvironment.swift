import Bench
public import SesameDevice
import System
public import Conformance
import Glibc
public import Sesame
public import Basics

/// The environment of a lock that is emulated by another program, asked over its control socket.
///
/// Nothing here is the lock's fault: no answer in time and a socket that is gone are lab faults. The socket is
/// connected when it is first needed, and again after a fault.
public final class ControlledEnvironment: LockEnvironment {
  /// The socket.
  public let path: String
  /// The options of the lock that the next start condition is to be prepared with.
  public var options: [Argument] = []
  /// What can be asked for.
  public private(set) var abilities: ControlAbilities
  private let timeout: Interval
  private var stream: LineStream?

  /// Connects to an emulator and asks what it can do.
  public init(path: String, timeout: Interval = .seconds(5)) throws(LabFault) {
    self.path = path
    self.timeout = timeout
    abilities = ControlAbilities(
      lock: "", stimuli: [], faults: [], settings: [], options: [], conditions: [])
    guard case .abilities(let abilities) = try ask(.abilities) else { throw outOfTurn() }
    self.abilities = abilities
  }

  deinit { hangUp() }

  public var faults: [String] { abilities.faults }
  public var stimuli: [String] { abilities.stimuli }
  public var settings: [String] { abilities.settings }
  /// No: when a fault hits a frame is known to the other program alone.
  public var reportsTampering: Bool { false }

  public func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    guard case .prepared(let key) = try ask(.prepare(start, options: options)) else { throw outOfTurn() }
    if let key { Secrecy.keep(key) }
    return key
  }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    guard case .done = try ask(.stimulus(stimulus, arguments)) else { throw outOfTurn() }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    guard case .done = try ask(.fault(fault)) else { throw outOfTurn() }
  }

  /// Nothing: the emulator knows what its lock is registered with, and every test prepares it anew.
  public func keep(_ key: LockKey) throws(LabFault) {}

  /// Nothing, as above.
  public func drop(_ key: LockKey) throws(LabFault) {}

  private func ask(_ request: ControlRequest) throws(LabFault) -> ControlAnswer {
    try callUp()
    let limit = MonotonicClock.now + timeout
    stream?.send(request.line)
    while true {
      switch stream?.next() ?? .over {
      case .line(let line): return try take(line)
      case .over: throw lost("it closed the connection")
      case .nothing:
        let left = limit - MonotonicClock.now
        guard left > .zero else { throw lost("no answer within \(timeout)") }
        stream?.wait(for: left)
        stream?.flush()
      }
    }
  }

  private func take(_ line: [UInt8]) throws(LabFault) -> ControlAnswer {
    let answer: ControlAnswer
    do {
      answer = try ControlAnswer(line: line)
    } catch {
      throw lost("an answer that is none: \(error)")
    }
    if case .refused(let why) = answer { throw LabFault(.notPossible, why) }
    return answer
  }

  private func callUp() throws(LabFault) {
    guard stream == nil else { return }
    do {
      stream = LineStream(try ControlSocket.connect(to: path))
    } catch {
      throw LabFault(.noDevice, "the emulator of the lock cannot be reached: \(error)")
    }
  }

  private func outOfTurn() -> LabFault { lost("an answer to something else") }

  /// What is left of an answer that came too late must not be taken for the next one.
  private func lost(_ why: String) -> LabFault {
    hangUp()
    return LabFault(.transportLost, "the emulator of the lock, \(path): \(why)")
  }

  private func hangUp() {
    if let stream { Kernel.close(stream.descriptor) }
    stream = nil
  }
}
