import Secrets
import Devices
import Bench
import Harness
public import Journal
import Reporting
import Conformance
import System
import Basics

/// What a recipe says, whatever it is written in.
///
/// Values from the command line reach a recipe only through the quoting of the place where they stand.
public struct Recipe {
  let kind: ScheduleKind
  /// What was asked for; it was checked.
  let arguments: RecipeSettings

  public init(_ arguments: RecipeSettings, _ kind: ScheduleKind) throws(UsageError) {
    try arguments.check(kind)
    (self.arguments, self.kind) = (arguments, kind)
  }

  /// What jobs and units are called.
  var name: String { arguments.name }
  /// The folder of reports, without anything that a shell or a pattern would read otherwise.
  var out: String { arguments.out }
  var shards: Int { arguments.shards ?? 1 }
  var user: String { arguments.user ?? Host.variable("USER") ?? "root" }
  var folder: String { arguments.folder ?? Host.folder }
  /// The claim of the volume that reports of containers go to.
  var claim: String { arguments.claim ?? "lockstep-reports" }

  /// How lockstep is called; `nil` where it is built first.
  var command: String? {
    let isHere = kind == .systemd || kind == .slurm
    return arguments.command ?? (isHere ? Host.program ?? "lockstep" : nil)
  }

  /// Whether Lockstep is built first, for which the repository has to be that of Lockstep.
  var builds: Bool { command == nil && kind != .kubernetes }

  /// What is to be said to who prints a recipe that cannot work in the repository of a folder.
  public func caution(in folder: String) -> String? {
    let marks = ["Package.swift", ".ci/dependencies"].map { Path.join(folder, $0) }
    guard builds, marks.contains(where: { fileKind($0) == .missing }) else { return nil }
    return
      "note: this recipe builds Lockstep from a checkout of its sources, and this folder is none: say with --command where "
      + "lockstep is on the machine that runs it"
  }

  /// The words of a night, where that is what is started.
  var nightly: [String]? {
    arguments.plan.map { [arguments.bench.map { "--bench=\($0)" }].compactMap(\.self) + ["--", $0] }
  }

  /// What is run, and on what.
  var selection: [String] {
    let given = [("device", arguments.device), ("transport", arguments.transport)]
    return given.compactMap { option, value in value.map { "--\(option)=\($0)" } } + ["--"]
      + (arguments.scenarios.isEmpty ? [ScenarioFiles.usualFolder] : arguments.scenarios)
  }

  /// Where the history of runs is kept, where somebody said so.
  private var history: HistorySettings.Choice { arguments.history.choice }

  /// Whether a real lock is driven, which only one run may do at a time.
  var isBench: Bool { arguments.device?.hasPrefix("lock:") ?? false }

  /// Whether the transport is an adapter of the kernel, for which a capability is needed.
  var needsAdapter: Bool { arguments.transport?.hasPrefix("hci-socket:") ?? false }

  /// The command that writes this recipe again.
  var origin: String { "lockstep schedule " + arguments.words.map(shellWord).joined(separator: " ") }

  /// The recipe.
  public var text: String {
    switch kind {
    case .gitlab: gitlab
    case .github: github
    case .jenkins: jenkins
    case .systemd: systemd
    case .slurm: slurm
    case .kubernetes: kubernetes
    }
  }

  /// Where a program is called.
  enum Place {
    case checkout, container
  }

  /// The program, for a shell.
  var program: String { shellWord(program(in: .checkout)) }

  /// The program.
  func program(in place: Place) -> String {
    command ?? (place == .checkout ? ".build/release/lockstep" : "lockstep")
  }

  /// What a run does with its results.
  enum Share {
    /// It is all there is, and has reports of its own.
    case whole
    /// It is one of many, which are merged.
    case shard
  }

  /// Whether the history is kept by a server, to which every run adds itself.
  var hasServer: Bool {
    if case .place(.postgres(_)) = history { true } else { false }
  }

  /// Whether the history is a file in the folder of reports, which is to outlive a job.
  var keepsHistory: Bool { history == .usual }

  /// Where the history is, as an option.
  private var historyWords: [String] {
    switch history {
    case .usual: []
    case .none: ["--history=none"]
    case .place(.file(let path)), .place(.postgres(let path)): ["--history=\(path)"]
    }
  }

  /// The options of a run that say what becomes of its results: a page about one shard helps nobody, and a file that
  /// each shard has of its own is no history.
  func plan(_ share: Share) -> [String] {
    switch share {
    case .whole: historyWords
    case .shard: ["--html=none"] + (hasServer ? historyWords : ["--history=none"])
    }
  }

  /// The words of a run.
  func words(out: String) -> [String] { ["run", "--out=\(out)"] + plan(.whole) + selection }

  /// The words of a night, or of taking up one that was cut off.
  func nightWords(_ nightly: [String], resumes: Bool) -> [String] {
    ["nightly", "--out=\(out)"] + plan(.whole) + (resumes ? ["--resume"] : []) + nightly
  }

  /// The run as a line of a shell; `shard` and `out` are written as they are, for the shell to read.
  ///
  /// When the time is over it is asked to end, which takes a step and the way back to a lock's park position.
  func runLine(shard: String? = nil, out: String, telling host: AnnotationHost? = nil) -> String {
    let plan = plan(shards > 1 ? .shard : .whole).map(shellWord)
    // Of several parts the report tells it.
    let told = shards > 1 ? [] : Self.telling(host)
    let options = ["--out=\(out)"] + (shard.map { ["--shard=\($0)"] } ?? []) + told + plan
    return "timeout --preserve-status --kill-after=5m \(seconds) \(program) "
      + runWords(options)
  }

  /// The words of a run for a shell, which reads the options as they are.
  func runWords(out: String) -> String { runWords(["--out=\(out)"] + plan(.shard).map(shellWord)) }

  private func runWords(_ options: [String]) -> String {
    (["run"] + options + selection.map(shellWord)).joined(separator: " ")
  }

  /// The merging of what several shards left, as a line of a shell.
  ///
  /// A history that is no server's takes the runs in afterwards, which changes nothing about the outcome.
  func reportLine(
    _ runs: String, out: String, in place: Place = .checkout, telling host: AnnotationHost? = nil
  ) -> String {
    let program = shellWord(program(in: place))
    let options = (["--out=\(out)"] + historyWords.map(shellWord)).joined(separator: " ")
    let line = "\(program) report \((Self.telling(host) + [options]).joined(separator: " ")) \(runs)"
    guard history != .none, !hasServer else { return line }
    return
      "(status=0; \(line) || status=$?; \(program) history add \(options) \(runs) || true; exit \"$status\")"
  }

  /// The options by which the host of the repository is told what did not go well.
  private static func telling(_ host: AnnotationHost?) -> [String] {
    host.map { ["--annotations=\($0.rawValue)"] } ?? []
  }

  /// How long a run may take, in seconds.
  var seconds: Int64 { max(arguments.limit.nanoseconds / 1_000_000_000, 1) }

  /// How long the job may take: the run, its end, and building before it.
  var minutes: Int64 { (seconds + 59) / 60 + (command == nil ? 40 : 10) }

  /// Where the daily start stands in a crontab.
  var cron: String { "\(arguments.time.minute) \(arguments.time.hour) * * *" }
}

extension RecipeSettings {
  /// The words that lead to the same recipe.
  fileprivate var words: [String] {
    let usual = RecipeSettings()
    var words = kinds + scenarios.map { "--scenarios=\($0)" }
    let given: [(String, String?)] = [
      ("plan", plan), ("bench", bench), ("device", device), ("transport", transport),
      ("shards", shards.map(String.init)),
      ("time", time == usual.time ? nil : time.text),
      ("limit", limit == usual.limit ? nil : "\(limit.nanoseconds / 1_000_000_000)s"), ("command", command),
      ("out", out == usual.out ? nil : out), ("name", name == usual.name ? nil : name), ("user", user),
      ("folder", folder), ("image", image), ("claim", claim),
    ]
    for (name, value) in given { if let value { words.append("--\(name)=\(value)") } }
    // Without what could be a password.
    let place = history.words.last.map { "--history=\(withoutSecrets($0))" }
    return words + (place.map { [$0] } ?? [])
  }

  /// What no recipe can hold, and what does not go together.
  fileprivate func check(_ kind: ScheduleKind) throws(UsageError) {
    let texts =
      scenarios + [plan, bench, device, transport, command, user, folder, image, claim].compactMap(\.self)
    for text in texts where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw UsageError("a recipe can hold no control characters: \(shellWord(text).debugDescription)")
    }
    try plain(name, of: "name", also: "_-.")
    // CI systems read it as a pattern, and shells as words.
    try plain(out, of: "out", also: "_-./")
    if let user { try plain(user, of: "user", also: "_-.") }
    if kind == .systemd, shards != nil { throw UsageError("--shards: a bench does all of it by itself") }
    if kind != .systemd, plan != nil { throw UsageError("--plan is for systemd") }
    if plan == nil, bench != nil { throw UsageError("--bench goes with --plan") }
    if plan != nil, !scenarios.isEmpty || device != nil || transport != nil {
      throw UsageError(
        "--plan says which scenarios are for which locks: leave out --scenarios, --device and --transport")
    }
    if plan != nil, limit != RecipeSettings().limit {
      throw UsageError("--plan says how long the night is: leave out --limit")
    }
    if kind != .systemd, user != nil { throw UsageError("--user is for systemd") }
    if ![.systemd, .slurm, .kubernetes].contains(kind), folder != nil {
      throw UsageError("--folder is for systemd, slurm and kubernetes")
    }
    try checkCluster(kind)
    try checkLock()
    if (shards ?? 1) > 1, kind != .slurm, device?.hasPrefix("lock:") ?? false {
      throw UsageError("--shards: a lock can be driven by one job at a time")
    }
    if let shards, shards > 200 {
      throw UsageError("--shards: \(kind.rawValue) is not asked for more than 200 jobs")
    }
  }

  /// A lock and the way to it go together.
  private func checkLock() throws(UsageError) {
    guard let name = device.flatMap({ $0.hasPrefix("lock:") ? String($0.dropFirst(5)) : nil }) else {
      guard transport == nil else {
        throw UsageError("--transport leads to a lock: name it with --device lock:FILE")
      }
      return
    }
    let lock = try BenchLock(named: name, on: nil)
    if lock?.isEmulated == true { return }
    if let transport {
      _ = try TransportChoice(naming: transport, on: lock?.bench)
    } else if let lock {
      _ = try lock.bench.transports(to: lock.lock)
    } else {
      throw UsageError(
        "a lock needs a way to it: --transport usb:0, or another; 'lockstep doctor' says what there is")
    }
  }

  private func checkCluster(_ kind: ScheduleKind) throws(UsageError) {
    guard kind == .kubernetes else {
      for (option, value) in [("image", image), ("claim", claim)] where value != nil {
        throw UsageError("--\(option) is for kubernetes")
      }
      return
    }
    guard image != nil else {
      throw UsageError("kubernetes runs containers: say with --image which has lockstep")
    }
    guard !(device?.hasPrefix("lock:") ?? false) else {
      throw UsageError("a lock stands at a bench: kubernetes runs what needs none")
    }
    for (option, text) in [("name", name), ("claim", claim ?? "x")] {
      let isName = text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
      guard isName, !text.isEmpty, !text.hasPrefix("-"), !text.hasSuffix("-"), text.utf8.count <= 52 else {
        throw UsageError("'--\(option)' expects small letters, digits and - for kubernetes, not '\(text)'")
      }
    }
  }

  private func plain(_ text: String, of option: String, also signs: String) throws(UsageError) {
    let isPlain = text.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        || signs.utf8.contains(byte)
    }
    guard isPlain, let first = text.first, first != "-" else {
      throw UsageError("'--\(option)' expects letters, digits and \(signs) for a recipe, not '\(text)'")
    }
  }
}
