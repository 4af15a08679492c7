import Basics
import CommandLine
import Devices
import Harness
import Journal
import Reporting
import System

/// Repeats a run whenever its scenarios change.
struct RunWatching: ~Copyable {
  /// The maximum delay in noticing a signal that another thread received. It involves no file access.
  private static let signalInterval = Interval.milliseconds(500)

  /// The error for watching a real lock.
  static let refusal = UsageError(
    "--watch is for emulated locks and programs: a file that is saved moves no real lock")

  private var arguments: RunArguments
  private let console: Console
  /// The folders that runs write to, where changes are ignored.
  private let results: [String]
  private var watch: FolderWatch
  private var needs: ScenarioNeeds
  private var input: KeptInputLines? = KeptInputLines()

  /// Validates that the run needs no supervision, and starts watching.
  init(_ arguments: RunArguments, _ console: Console) throws(UsageError) {
    let options = [
      ("--resume", arguments.resume != nil), ("--format json", arguments.format == .json),
      ("--lab", arguments.lab.reservation.lab != nil), ("--transport", arguments.lab.transport != nil),
    ]
    guard arguments.device?.hasPrefix("lock:") != true else {
      throw Self.refusal
    }
    if let (option, _) = options.first(where: \.1) {
      throw UsageError("--watch runs again and again for a person: leave \(option) out")
    }
    let results = arguments.reports.folders.map { realPath($0) ?? Path.join(Host.folder, $0) }
    let needs = try Self.needs(of: arguments)
    watch = try Self.convertingWatchFaults { () throws(WatchFault) in
      var watch = try FolderWatch()
      try Self.add(needs, to: &watch, besides: results)
      return watch
    }
    (self.arguments, self.console, self.results, self.needs) = (arguments, console, results, needs)
  }

  /// Runs `body` and converts a failure of the system's change notification.
  private static func convertingWatchFaults<Value: ~Copyable>(
    _ body: () throws(WatchFault) -> Value
  ) throws(UsageError) -> Value {
    do throws(WatchFault) {
      return try body()
    } catch {
      throw UsageError("\(error)", status: .labFault)
    }
  }

  /// Repeats the run until the user quits, and returns the status of the last run.
  consuming func perform(
    _ run: (RunArguments) throws(UsageError) -> CommandStatus
  ) throws(UsageError) -> CommandStatus {
    Interruption.listen()
    var status = try withQuitKey { () throws(UsageError) in try run(arguments) }
    while !Interruption.isRequested, !console.isBroken {
      console.say("lockstep: waiting for changes; Enter runs again, q and Enter ends")
      guard let changed = try next() else { break }
      if console.drawsOver { console.draw("\u{1B}[H\u{1B}[2J") }
      if !changed.files.isEmpty { console.say("lockstep: changed: \(Self.list(changed.files))") }
      arguments.changed = changed.scenarios
      do throws(UsageError) {
        status = try withQuitKey { () throws(UsageError) in try run(arguments) }
      } catch {
        console.say("lockstep: \(error.message)")
        status = error.status
      }
    }
    return status
  }

  /// Performs a run; `q` ends it like a signal.
  private func withQuitKey(_ run: () throws(UsageError) -> CommandStatus) throws(UsageError) -> CommandStatus
  {
    input?.listen(for: "q") { Interruption.request() }
    defer { input?.stopListening() }
    return try run()
  }

  private static func needs(of arguments: RunArguments) throws(UsageError) -> ScenarioNeeds {
    let world = World()
    let device = try checked("--device: ") { try world.deviceSpec(arguments.device) }
    return ScenarioNeeds(
      arguments.chosenPaths, besides: arguments.reports.folders, device: device, reader: world.reader)
  }

  private static func add(
    _ needs: ScenarioNeeds, to watch: inout FolderWatch, besides results: [String]
  ) throws(WatchFault) {
    for folder in Set(needs.places.map { Path.folder(of: $0.text) }).sorted() { try watch.add(folder) }
    for folder in needs.folders {
      if let folder = realPath(folder) { try watch.add(tree: folder, besides: results) }
    }
  }

  private static func list(_ changed: Set<ExactText>) -> String {
    let names = changed.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
  }
}

extension RunWatching {
  /// The changed files, and the scenarios that depend on them.
  private struct Change {
    var files: Set<ExactText> = []
    var scenarios: Set<ExactText> = []
  }

  /// Waits for a reason to run again.
  ///
  /// - Returns: the change, which is empty for any other reason; `nil` at the end.
  private mutating func next() throws(UsageError) -> Change? {
    while !Interruption.isRequested {
      switch input?.next() {
      case .line("q"): return nil
      case .line: return Change()
      case .tooLong, .end: input = nil
      case nil: break
      }
      let reason = try Self.convertingWatchFaults { () throws(WatchFault) -> Change? in
        switch try watch.next(or: input?.descriptors ?? [], within: Self.signalInterval) {
        case .others: return nil
        case .unknownChanges: return try touched(by: nil)
        case .changes(let changed):
          return try touched(
            by: changed.filter { change in
              !results.contains { change.text.hasPrefix($0 + "/") }
            })
        }
      }
      if let reason { return reason }
    }
    return nil
  }

  /// Returns the relevant change, or `nil` if there is none.
  ///
  /// - Parameter changed: the changed paths, if known.
  private mutating func touched(by changed: Set<ExactText>?) throws(WatchFault) -> Change? {
    let before = needs
    guard changed?.contains(where: { Self.mayMatter($0.text) || before.places.contains($0) }) != false else {
      return nil
    }
    needs = (try? Self.needs(of: arguments)) ?? before
    try Self.add(needs, to: &watch, besides: results)
    guard let changed else { return Change() }
    guard before.files != needs.files || !before.places.union(needs.places).isDisjoint(with: changed) else {
      return nil
    }
    return Change(
      files: before.files(touchedBy: changed).union(needs.files(touchedBy: changed)),
      scenarios: before.scenarios(touchedBy: changed).union(needs.scenarios(touchedBy: changed)))
  }

  /// Returns whether a new or removed path may be a scenario or a folder with scenarios.
  private static func mayMatter(_ path: String) -> Bool {
    path.hasSuffix(".yaml") || path.hasSuffix(".yml") || fileKind(path) != .file
  }
}
