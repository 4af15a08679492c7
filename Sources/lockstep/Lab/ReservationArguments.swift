public import CommandLine
import System
import Bench
import Devices
import Journal
import Basics

/// The options with which a run reserves a place in a lab of several benches, and a nightly run several: `--lab`,
/// `--tags` and `--lab-wait`.
struct ReservationArguments {
  var lab: LabAddress?
  var tags: TagList?
  var wait: Interval?
  /// The place, once it is acquired.
  var reserved: Reservation?
  /// Whether the transport to the lock comes from the place.
  var givesTransport = false

  static var options: [Option<ReservationArguments>] {
    [
      .value(
        "lab", \.lab, "labgrid://HOST:PORT",
        "Uses a lock and a transport of a labgrid lab. A place with --tags is reserved, acquired, and "
          + "released however the run ends.", example: "labgrid://lab:20408"
      ).typedOnly(since: RunArguments.realLockReason),
      .value(
        "tags", \.tags, "KEY=VALUE,…",
        "The tags that the place of --lab must have; name=NAME selects a place by its name.",
        example: "model=sesame5"
      ).heldOnly(beside: ["lab"]),
      .value(
        "lab-wait", \.wait, "TIME", "How long to wait for a place of --lab. Default: 10min.",
        example: "2h"
      ).heldOnly(beside: ["lab"]),
    ]
  }

  /// Throws if lab options are given without `--lab`.
  func check() throws(UsageError) {
    guard lab == nil else { return }
    guard tags == nil else { throw UsageError("--tags goes with --lab") }
    guard wait == nil else { throw UsageError("--lab-wait goes with --lab") }
  }

  /// The options as words, for a command line that repeats the run; they name the acquired place, if there is one.
  var words: [String] {
    request.map { request in reserved.map { request.words(at: $0.place.name) } ?? request.words } ?? []
  }

  /// The reservation request, if a lab is named.
  var request: Reservation.Request? {
    lab.map { Reservation.Request($0, tags: tags?.tags ?? [], wait: wait) }
  }

}

extension LabAddress: ArgumentValue {
  init?(argument: String) { self.init(argument) }
  static var form: String { "labgrid://HOST:PORT" }
}

/// The value of `--tags`.
struct TagList: ArgumentValue, Equatable {
  let tags: [LabTag]
  static let form = "KEY=VALUE,…, such as model=sesame5"

  init?(argument: String) {
    guard let tags = LabTag.list(argument) else { return nil }
    self.tags = tags
  }

  var text: String { tags.map(\.description).joined(separator: ",") }
}

extension RunArguments {
  /// Acquires a place if one is requested, and selects its lock and transport. The command line takes precedence
  /// over the place.
  ///
  /// | setting | source in the place |
  /// | --- | --- |
  /// | the lock | the tag `lock=NAME`, as in `--device lock:NAME` |
  /// | the transport | the tag `transport=SPEC`, or `dongle=NAME` of bench.yaml, or a resource; see ``Bench/LabPlace/offeredTransport`` |
  mutating func acquire(_ console: Console) throws(NoPlace) {
    let given = lab.reservation
    do throws(UsageError) { try given.check() } catch { throw .usage(error) }
    guard let address = given.lab else { return }
    guard let tags = given.tags else {
      throw .usage(UsageError("--lab needs to know which place: --tags model=sesame5, or another"))
    }
    if let device, !device.hasPrefix("lock:") {
      throw .usage(UsageError("--lab leads to a lock, and '\(device)' is not a lock"))
    }
    Interruption.listen()
    let reservation: Reservation
    do {
      reservation = try Reservation(
        Reservation.Request(address, tags: tags.tags, wait: given.wait), unusable: { unusable(at: $0) },
        say: { console.say($0) },
        isStopped: { Interruption.isRequested })
    } catch {
      switch error {
      case .stopped: throw .lab("stopped while waiting for a place of the lab", .incomplete)
      case .trouble(let fault): throw .lab("\(fault)", .labFault)
      }
    }
    lab.reservation.reserved = reservation
    let place = reservation.place
    if !isQuiet { console.say("lockstep: got the place \(place.name) of \(address)") }
    if device == nil {
      guard let lock = place.tag("lock") else {
        throw .lab(
          "no device: the place \(place.name) does not say which lock stands there: give it a tag lock=NAME, or name "
            + "the lock with --device lock:NAME", .labFault)
      }
      device = "lock:" + lock
    }
    guard lab.transport == nil else { return }
    lab.transport = place.transport ?? place.offeredTransport
    lab.reservation.givesTransport = lab.transport != nil
  }

  /// Returns why no lock can be reached at a place, judging by what is known before it is acquired; `nil` if one
  /// may be reachable.
  private func unusable(at place: LabPlace) -> String? {
    guard lab.transport == nil, place.transport == nil, let reason = place.unusablePort else { return nil }
    // The bench may have a transport to the lock.
    let name = lockName ?? place.tag("lock")
    let lock = name.flatMap { (try? BenchLock(named: $0, on: lab.bench)) ?? nil }
    return lock == nil ? reason : nil
  }

  /// Releases the place, if there is one.
  func release(_ console: Console) { lab.reservation.reserved?.release { console.say($0) } }
}

extension Command {
  /// The process that monitors a run with a lab place; hidden from users.
  static var labWatchdog: Command {
    Command(
      LabWatchdog.command, "Releases the place of a lab whose run was killed.",
      operands: .init(
        placeholder: "WORD", summary: "The coordinator, host, user and Python.", count: 4...4, path: \.self),
      defaults: [String]()
    ) { words, _ throws(UsageError) in
      guard let isDone = LabWatchdog.perform(words) else {
        throw UsageError("this command is for runs with --lab alone")
      }
      return isDone ? .agree : .labFault
    }
  }
}

extension NoPlace {
  /// Prints the reason and returns the exit status.
  func status(_ console: Console) throws(UsageError) -> CommandStatus {
    switch self {
    case .usage(let error): throw error
    case .lab(let words, let status):
      console.say("lockstep: \(words)")
      return status
    }
  }
}
