import System
import Conformance
public import Lab
import Basics

/// labgrid's own client program, `labgrid-client`, which does all talking with a lab's coordinator.
///
/// Each call is a process of its own, which has a limit: one that hangs is killed, with whatever it started.
public struct LabgridClient: Sendable {
  /// The coordinator that is talked to.
  public let address: LabAddress
  /// Under which name places are held: `HOST/USER`, as labgrid writes it.
  public let owner: LabOwner
  /// The program: a path, or a name to be found on the PATH.
  let program: String

  /// How long a call may take that only asks or tells the coordinator something.
  static let patience = Interval.seconds(15)

  /// Prepares to talk to a coordinator; `LABGRID_CLIENT` says which program does it unless somebody else does.
  public init(_ address: LabAddress, owner: LabOwner, program: String? = nil) {
    self.address = address
    self.owner = owner
    self.program = program ?? Host.variable("LABGRID_CLIENT") ?? "labgrid-client"
  }
}

/// Who holds a place, as labgrid knows him: `HOST/USER`.
///
/// The coordinator tells holders apart by nothing else. So each run has a user of its own: what one run holds no other
/// run gives back, and what a run that died left behind can be told from what is in use.
public struct LabOwner: Equatable, Sendable, CustomStringConvertible {
  /// The host.
  public let host: String
  /// The user, and which of his runs.
  public let user: String

  /// A new owner: this user on this host, in a run that nobody else is.
  public static func new() -> LabOwner {
    let user = Host.variable("LG_USERNAME") ?? Host.variable("USER") ?? "lockstep"
    let host = Host.variable("LG_HOSTNAME") ?? Host.name
    let number = (SystemEntropy().next() >> 32).hex(digits: 8)
    return LabOwner(host: plain(host), user: plain(user) + ".lockstep-" + number)
  }

  /// labgrid takes the two apart at the slash.
  private static func plain(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "-" })
  }

  /// As labgrid writes it.
  public var description: String { "\(host)/\(user)" }
}

/// Why a call came to nothing.
enum LabgridFault: Error, Equatable {
  /// There is no such program, or it cannot be started.
  case absent(String)
  /// It did not end in time.
  case hung(Interval)
  /// It ended with an error; what it said.
  case refused(String)
  /// Somebody asked us to stop.
  case stopped
}

extension LabgridClient {
  /// Carries out one command of the client.
  ///
  /// - Returns: the lines that it printed.
  func call(
    _ words: [String], within limit: Interval = patience, isStopped: () -> Bool = { false }
  ) throws(LabgridFault) -> [String] {
    // The program itself asks its environment who we are; 'env' sets that, and finds it on the PATH.
    let environment = ["LG_HOSTNAME=\(owner.host)", "LG_USERNAME=\(owner.user)", "PYTHONUNBUFFERED=1"]
    let child: ChildProcess
    do {
      child = try ChildProcess(
        program: "/usr/bin/env",
        ["-u", "LG_ENV", "-u", "LG_PLACE", "-u", "LG_TOKEN", "-u", "LG_PROXY"] + environment
          + [program, "--coordinator", address.endpoint] + words, without: Secrecy.withheldVariables)
    } catch {
      throw .absent(error.description)
    }
    child.isDriven = false
    child.closeInput()
    let end = MonotonicClock.now + limit
    var lines: [String] = []
    while true {
      let now = MonotonicClock.now
      switch child.nextLine(until: min(end, now + .milliseconds(100))) {
      case .line(let bytes), .tooLong(let bytes): lines.append(printable(bytes))
      case .timedOut:
        if isStopped() { throw .stopped }
        if MonotonicClock.now >= end { throw .hung(limit) }
      case .ended:
        // It closed its output; it may still take a moment to go.
        let ending = child.stop(grace: max(.seconds(1), end - MonotonicClock.now))
        return try judge(ending, lines, child.lastWords)
      }
    }
  }

  private func judge(
    _ ending: Ending?, _ lines: [String], _ complaint: String
  ) throws(LabgridFault) -> [String] {
    switch ending {
    case .exit(0): return lines
    case .exit(127), .exit(126):
      throw .absent(complaint.isEmpty ? program : String(complaint.split(separator: "\n").last ?? ""))
    case nil: throw .hung(Self.patience)
    case .exit(let status):
      throw .refused(Self.gist(of: complaint) ?? "it ended with status \(status)")
    case .signal(let number): throw .refused(Self.gist(of: complaint) ?? "it ended with signal \(number)")
    }
  }

  /// What a person needs of what the client complained about: its last line, without its own name.
  private static func gist(of complaint: String) -> String? {
    guard var line = complaint.split(separator: "\n").last.map(String.init) else { return nil }
    for head in ["labgrid-client: ", "Server error: ", "Error: "] where line.hasPrefix(head) {
      line = String(line.dropFirst(head.utf8.count))
    }
    // labgrid may print all that it knows of a place.
    return line.utf8.count > 300 ? String(line.prefix(300)) + "…" : line
  }

  /// The fault as trouble of the lab.
  func trouble(_ fault: LabgridFault, _ what: String) -> LabFault {
    switch fault {
    case .absent(let words):
      LabFault(
        .noDevice,
        "\(what): labgrid's client program cannot be started: \(words); it comes with 'pip install labgrid', and "
          + "LABGRID_CLIENT says where it is")
    case .hung(let limit):
      LabFault(.noDevice, "\(what): labgrid-client did not end within \(limit), and was killed")
    case .refused(let words): LabFault(.noDevice, "\(what): \(words)")
    case .stopped: LabFault(.noDevice, "\(what): stopped")
    }
  }
}

extension LabgridClient {
  /// All places that somebody holds, or all that there are.
  func places(acquired: Bool) throws(LabgridFault) -> [LabPlace] {
    LabPlace.read(try call(["--verbose", "places"] + (acquired ? ["--acquired"] : [])))
  }

  /// The places that have all of some tags; it is refused where there is none, with those that there are.
  func places(with tags: [LabTag]) throws(LabgridFault) -> [LabPlace] {
    let all = try places(acquired: false)
    let found = all.filter { $0.has(tags) }
    guard found.isEmpty else { return found }
    let known = all.prefix(8).map { place in
      place.name + " (\(place.tags.map(\.description).joined(separator: ",")))"
    }
    throw .refused(known.isEmpty ? "the lab has no places" : "there is " + known.joined(separator: ", "))
  }

  /// One place, with what it lost.
  func place(_ name: String, within limit: Interval = patience) throws(LabgridFault) -> LabPlace {
    let lines = try call(["--place", name, "show"], within: limit)
    guard let place = LabPlace.read(lines).first, place.name == name else {
      throw .refused("there is no place \(name)")
    }
    return place
  }

  /// Gives back whatever stands under our name: places and reservations.
  ///
  /// The coordinator releases a place only if it is ours, so nobody else's is ever touched.
  ///
  /// - Returns: how much there was.
  @discardableResult
  func release() throws(LabgridFault) -> Int {
    var count = 0
    for place in try places(acquired: true) where place.holder == owner.description {
      _ = try call(["--place", place.name, "release-from", owner.description])
      count += 1
    }
    for reservation in LabReservation.read(try call(["reservations"]))
    where reservation.owner == owner.description {
      count += 1
      do {
        _ = try call(["cancel-reservation", reservation.token])
      } catch .refused {
        // It expired meanwhile.
      }
    }
    return count
  }
}
