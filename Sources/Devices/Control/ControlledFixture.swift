import Bench
import Programs
public import Links
import System
public import Conformance
import Glibc
public import Basics

/// The fixture of a lock that another program emulates, accessed over its control socket.
///
/// A late answer or a lost connection is a lab fault, never a failure of the lock. The fixture connects when it first
/// needs the socket, and again after a fault.
public final class ControlledFixture: Fixture {
  /// The path of the socket.
  public let path: String
  /// The options of the lock for the next start condition.
  public var options: [Argument] = []
  /// The abilities that the emulator reports.
  public private(set) var offered: ControlAbilities
  /// The conditions of the model that always hold, if they differ from those that the emulator reports.
  public var conditions: [String]?
  /// Whether to observe the output of the lock's program.
  public var watchesProgram = false
  /// Receives the key of the lock's owner after each preparation, in the format of its family; `nil` without an owner.
  var takeKey: ((JSON?) throws(ControlError) -> Void)?
  public private(set) var fault: LabFault?
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private let timeout: Interval
  private var stream: LineStream?
  /// Whether the output of the lock's program is observed, and its lines that were not taken yet.
  private var isWatching = false
  private var shown: [JSON] = []

  /// Connects to an emulator and requests its abilities.
  public init(path: String, timeout: Interval = .seconds(5)) throws(LabFault) {
    self.path = path
    self.timeout = timeout
    offered = ControlAbilities(
      lock: "", stimuli: [], faults: [], settings: [], options: [], conditions: [])
    guard case .abilities(let offered) = try ask(.abilities) else { throw unexpectedAnswer() }
    self.offered = offered
  }

  deinit { hangUp() }

  public var abilities: Abilities { offered.abilities(under: conditions) }
  public var readings: [String] { offered.readings }
  /// False: only the emulator knows when a fault hits a frame.
  public var reportsTampering: Bool { false }

  public func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  public func prepare(_ start: StartCondition) throws(LabFault) {
    fault = nil
    try watch()
    guard case .prepared(let key) = try ask(.prepare(start, options: options)) else {
      throw unexpectedAnswer()
    }
    // Lines from before the preparation belong to no test.
    shown = []
    do {
      try takeKey?(key)
    } catch {
      throw lost("an invalid answer: \(error)")
    }
  }

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    do throws(LabFault) {
      guard case .done = try ask(.stimulus(stimulus, arguments)) else { throw unexpectedAnswer() }
      return nil
    } catch  where error.symptom == .notPossible {
      return error.detail
    }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    guard case .done = try ask(.fault(fault)) else { throw unexpectedAnswer() }
  }

  public func takeObservations() -> [Observation] {
    guard fault == nil else { return [] }
    do throws(LabFault) {
      var observations: [Observation] = []
      for json in try takeShown() {
        let line = Array(json.line.utf8)
        do throws(LabFault) {
          if let shown = try vocabulary.observation(ofPeripheral: line) { observations.append(shown) }
        } catch {
          throw LabFault(.transportLost, "the emulator shows a line of no known form: \(error.detail)")
        }
      }
      return observations
    } catch {
      fault = error
      return []
    }
  }

  /// Subscribes to the output of the lock's program; an emulator without this request shows nothing.
  private func watch() throws(LabFault) {
    guard watchesProgram, !isWatching else { return }
    isWatching = true
    if stream == nil { try connect() } else { try requestWatch() }
  }

  private func requestWatch() throws(LabFault) {
    do throws(LabFault) {
      guard case .done = try ask(.watch) else { throw unexpectedAnswer() }
    } catch  where error.symptom == .notPossible {
      isWatching = false
    }
  }

  /// Returns the lines that the lock's program has shown since the test began or since the last call.
  private func takeShown() throws(LabFault) -> [JSON] {
    guard isWatching else { return [] }
    while stream != nil {
      switch stream?.next() ?? .over {
      case .line(let line):
        guard case .shown(let json) = try take(line) else { throw unexpectedAnswer() }
        shown.append(json)
      case .over: throw lost("it closed the connection")
      case .nothing:
        defer { shown = [] }
        return shown
      }
    }
    return []
  }

  private func ask(_ request: ControlRequest) throws(LabFault) -> ControlAnswer {
    try connect()
    let limit = MonotonicClock.now + timeout
    stream?.send(request.line)
    while true {
      switch stream?.next() ?? .over {
      case .line(let line):
        let answer = try take(line)
        guard case .shown(let json) = answer else { return answer }
        shown.append(json)
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
      throw lost("an invalid answer: \(error)")
    }
    if case .refused(let why) = answer { throw LabFault(.notPossible, why) }
    return answer
  }

  private func connect() throws(LabFault) {
    guard stream == nil else { return }
    do {
      stream = LineStream(try ControlSocket.connect(to: path))
    } catch {
      throw LabFault(.noDevice, "the emulator of the lock cannot be reached: \(error)")
    }
    if isWatching { try requestWatch() }
  }

  private func unexpectedAnswer() -> LabFault { lost("an answer to something else") }

  /// Closes the connection, so that a late answer is not read as the next one.
  private func lost(_ why: String) -> LabFault {
    hangUp()
    return LabFault(.transportLost, "the emulator of the lock, \(path): \(why)")
  }

  private func hangUp() {
    if let stream { Kernel.close(stream.descriptor) }
    stream = nil
  }
}
