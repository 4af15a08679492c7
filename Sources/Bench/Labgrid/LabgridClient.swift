import System
import Conformance
import Basics
import Files
import Synchronization

/// A client of a lab's coordinator.
///
/// Only labgrid's own library, in Python, speaks the coordinator's protocol. Therefore each client runs a
/// short program in the Python that has the library. The first request starts it; a program that does not
/// answer in time, or was killed, is replaced at the next request; it exits with this process.
public final class LabgridClient: Sendable {
  /// The coordinator.
  public let address: LabAddress
  /// The owner of the places that it acquires; labgrid writes it `HOST/USER`.
  public let owner: LabOwner
  /// The Python interpreter: a path, or a name on the PATH.
  let python: String
  private let child = Mutex<ChildProcess?>(nil)

  /// The time limit of an answer. The program itself reports after twelve seconds that the coordinator is
  /// silent.
  private static let answerTimeout = Interval.seconds(15)

  /// Makes a client; the first request starts the program.
  ///
  /// - Parameter python: the Python that has labgrid's library. The default is the one that `LABGRID_PYTHON` names, or
  ///   else the one that runs the `labgrid-client` on the PATH.
  public init(_ address: LabAddress, owner: LabOwner, python: String? = nil) {
    self.address = address
    self.owner = owner
    self.python = python ?? Host.variable("LABGRID_PYTHON") ?? Self.installed() ?? "python3"
  }
}

/// The holder of a place, as labgrid names it: `HOST/USER`.
///
/// A coordinator distinguishes owners by this alone. So each run has its own user: no run releases the places
/// of another, and the remains of a run that died differ from places in use.
public struct LabOwner: Equatable, Sendable, CustomStringConvertible {
  /// The host.
  public let host: String
  /// The user, and the number of the run.
  public let user: String

  /// A new, unique owner: this user on this host, in one run.
  public static func new() -> LabOwner {
    let user = Host.variable("LG_USERNAME") ?? Host.variable("USER") ?? "lockstep"
    let host = Host.variable("LG_HOSTNAME") ?? Host.name
    let number = (SystemEntropy().next() >> 32).hex(digits: 8)
    return LabOwner(host: plain(host), user: plain(user) + ".lockstep-" + number)
  }

  /// Without a slash, which separates the two in labgrid.
  private static func plain(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "-" })
  }

  /// As labgrid writes it.
  public var description: String { "\(host)/\(user)" }
}

/// Why a request failed.
enum LabgridFault: Error, Equatable {
  /// Python cannot be started, or exited before it answered; its output.
  case ended(String)
  /// The program did not answer in time.
  case hung(Interval)
  /// The coordinator refused the request, with the reason.
  case refused(Reason, String)
  /// A stop was requested.
  case stopped

  /// Whether there was no answer: the same request may succeed later.
  var isSilence: Bool {
    switch self {
    case .hung, .refused(.unreachable, _): true
    case .ended, .refused, .stopped: false
    }
  }

  /// The reason of a refusal.
  enum Reason: String {
    /// The Python has no labgrid library.
    case `import`
    /// Its labgrid, or the coordinator's, is too old or too new.
    case version
    /// The coordinator cannot be reached, or does not answer.
    case unreachable
    /// The place does not exist.
    case place
    /// Another user holds the place, or has reserved it.
    case held
    /// No exporter offers the resources of the place.
    case resource
    /// Our reservation has expired.
    case reservation
    /// The coordinator refuses for another reason.
    case refused
  }
}

// MARK: - The Python

extension LabgridClient {
  /// The Python that runs the first `labgrid-client` on the PATH.
  private static func installed() -> String? {
    let folders = (Host.variable("PATH") ?? "").split(separator: ":")
    guard let client = folders.map({ $0 + "/labgrid-client" }).first(where: Host.isFile) else { return nil }
    return beginningOfFile(client, count: 1024).flatMap {
      interpreter(of: String(decoding: $0, as: UTF8.self))
    }
  }

  /// The interpreter in a script's first line; `nil` if there is none. Installers replace a path that is too
  /// long by a shell command in the second line: `'''exec' PYTHON "$0" "$@"`.
  static func interpreter(of script: String) -> String? {
    guard script.hasPrefix("#!") else { return nil }
    let lines = script.dropFirst(2).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
    var command = lines[0].drop { $0 == " " }
    if command.hasPrefix("/bin/sh"), lines.count > 1, lines[1].hasPrefix("'''exec' ") {
      command = lines[1].dropFirst("'''exec' ".count)
    } else if command.hasPrefix("/usr/bin/env ") {
      command = command.dropFirst("/usr/bin/env ".count)
    }
    let quote = command.first.flatMap { "\"'".contains($0) ? $0 : nil }
    let program =
      quote.map { quote in command.dropFirst().prefix { $0 != quote } } ?? command.prefix { $0 != " " }
    return program.split(separator: "/").last?.hasPrefix("py") == true ? String(program) : nil
  }

  private func start() throws(LabgridFault) -> ChildProcess {
    // The library reads the owner from its environment; `env` sets that, and finds the Python on the PATH.
    let names = ["LG_HOSTNAME=\(owner.host)", "LG_USERNAME=\(owner.user)"]
    do {
      let child = try ChildProcess(
        program: "/usr/bin/env",
        names + [python, "-c", EmbeddedFile.labgridCoordinator.text, address.endpoint, owner.description],
        without: Secrecy.withheldVariables, lineLimit: 16 << 20)
      child.isDriven = false
      return child
    } catch {
      throw .ended(error.description)
    }
  }
}

// MARK: - Requests

extension LabgridClient {
  /// Performs one operation.
  ///
  /// - Parameter isStopped: whether to stop waiting for the answer.
  private func ask(
    _ operation: JSON..., unless isStopped: @Sendable () -> Bool = { false }
  ) throws(LabgridFault) -> (state: LabState, result: JSON?) {
    let bytes = try child.withLock { child throws(LabgridFault) in
      if child?.reap() != nil { child = nil }
      let asked = if let child { child } else { try start() }
      // A process with an overdue answer is not used again.
      child = nil
      asked.send(Array((JSON.list(operation).line + "\n").utf8))
      let bytes = try answer(of: asked, isStopped)
      child = asked
      return bytes
    }
    let shown = printable(bytes.prefix(200))
    guard let answer = try? JSON(parsing: bytes) else { throw .refused(.version, "it is no JSON: \(shown)") }
    if let reason = answer["refusal"]?.string.flatMap(LabgridFault.Reason.init(rawValue:)) {
      throw .refused(reason, answer["words"]?.string ?? "")
    }
    guard let state = LabState(answer) else { throw .refused(.version, "it says \(shown)") }
    return (state, answer["result"])
  }

  private func answer(
    of child: ChildProcess, _ isStopped: @Sendable () -> Bool
  ) throws(LabgridFault) -> [UInt8] {
    let end = MonotonicClock.now + Self.answerTimeout
    while true {
      switch child.nextLine(until: min(end, MonotonicClock.now + .milliseconds(100))) {
      case .line(let bytes), .tooLong(let bytes): return bytes
      case .timedOut:
        let isOver = MonotonicClock.now >= end
        guard isOver || isStopped() else { continue }
        child.killGroup()
        throw isOver ? .hung(Self.answerTimeout) : .stopped
      case .ended:
        let ending = child.stop(grace: .seconds(1))
        throw .ended(
          child.lastWords.split(separator: "\n").last.map(String.init) ?? "\(ending, default: "it hangs")")
      }
    }
  }

  /// The present state of the lab.
  func fetchState(unless isStopped: @Sendable () -> Bool = { false }) throws(LabgridFault) -> LabState {
    try ask("look", unless: isStopped).state
  }

  /// Reserves a place that has some tags.
  func reserve(_ tags: [LabTag]) throws(LabgridFault) -> LabState {
    try ask("reserve", .mapping(tags.map { .init($0.key, .text($0.value)) })).state
  }

  /// Refreshes our reservation: the coordinator drops one that is not polled within a minute.
  func refresh() throws(LabgridFault) -> LabState { try ask("refresh").state }

  /// Acquires a place.
  func acquire(_ place: String) throws(LabgridFault) -> LabState { try ask("acquire", .text(place)).state }

  /// Releases all places and reservations of our owner.
  ///
  /// The coordinator releases a place only to its holder, so that no other user is affected.
  ///
  /// - Returns: the number of places and reservations.
  @discardableResult
  func release() throws(LabgridFault) -> Int { try ask("release").result?.int ?? 0 }

  /// The places that have all of some tags; throws if there is none, with the available ones.
  ///
  /// A coordinator that does not answer is asked twice: it may be busy, or restarting.
  func places(with tags: [LabTag]) throws(LabgridFault) -> [LabPlace] {
    var lab = Result { () throws(LabgridFault) in try fetchState() }
    if case .failure(let fault) = lab, fault.isSilence {
      rest(for: .seconds(1))
      lab = Result { () throws(LabgridFault) in try fetchState() }
    }
    let all = try lab.get().places
    let found = all.filter { $0.has(tags) }
    guard found.isEmpty else { return found }
    let known = all.prefix(8).map { place in
      place.name + " (\(place.tags.map(\.description).joined(separator: ",")))"
    }
    throw .refused(
      .place, known.isEmpty ? "the lab has no places" : "there is " + known.joined(separator: ", "))
  }

  /// Converts the fault to a lab fault.
  func trouble(_ fault: LabgridFault, _ what: String) -> LabFault {
    let words =
      switch fault {
      case .ended(let words): "the Python that talks to the lab ended: \(words); LABGRID_PYTHON names another"
      case .hung(let limit): "the Python that talks to the lab did not answer within \(limit), and was killed"
      case .refused(.import, let words):
        "\(python) has no labgrid: \(words); it comes with 'pip install labgrid', and LABGRID_PYTHON names the Python "
          + "that has it"
      case .refused(.version, let words):
        "the labgrid of \(python) is not one of those that are known, 25.0 to 26.0: \(words)"
      case .refused(_, let words): words
      case .stopped: "stopped"
      }
    return LabFault(.noDevice, "\(what): \(words)")
  }
}
