import Secrets
import Devices
import Bench
import Harness
public import Journal
import Reporting
import Conformance
import System
import Basics

/// The contents of a recipe, whatever its format.
///
/// Values from the command line reach a recipe only through the quoting of their place.
public struct Recipe {
  let kind: ScheduleKind
  /// The settings, which were checked.
  let arguments: RecipeSettings

  public init(_ arguments: RecipeSettings, _ kind: ScheduleKind) throws(UsageError) {
    try arguments.check(kind)
    (self.arguments, self.kind) = (arguments, kind)
  }

  /// The name of jobs and units.
  var name: String { arguments.name }
  /// The folder of reports, without characters that a shell or a pattern would interpret.
  var out: String { arguments.out }
  var shards: Int { arguments.shards ?? 1 }
  var user: String { arguments.user ?? Host.variable("USER") ?? "root" }
  var folder: String { arguments.folder ?? Host.folder }
  /// The volume claim for the reports of containers.
  var claim: String { arguments.claim ?? "lockstep-reports" }

  /// The command of lockstep; `nil` if it is built first.
  var command: String? {
    let isHere = kind == .systemd || kind == .slurm
    return arguments.command ?? (isHere ? Host.program ?? "lockstep" : nil)
  }

  /// Whether Lockstep is built first, for which the repository must be that of Lockstep.
  var builds: Bool { command == nil && kind != .kubernetes }

  /// A warning for a recipe that cannot work in the repository of a folder.
  public func caution(in folder: String) -> String? {
    let marks = ["Package.swift", ".ci/dependencies"].map { Path.join(folder, $0) }
    guard builds, marks.contains(where: { fileKind($0) == .missing }) else { return nil }
    return
      "note: this recipe builds Lockstep from a checkout of its sources, and this folder is none: in your own project, "
      + "give the path of lockstep with --command"
  }

  /// The arguments of a night, if the recipe starts one.
  var nightly: [String]? {
    arguments.plan.map { [arguments.bench.map { "--bench=\($0)" }].compactMap(\.self) + ["--", $0] }
  }

  /// The scenarios and their device.
  var selection: [String] {
    let given = [("device", arguments.device), ("transport", arguments.transport)]
    return given.compactMap { option, value in value.map { "--\(option)=\($0)" } } + ["--"]
      + (arguments.scenarios.isEmpty ? [ScenarioFiles.usualFolder] : arguments.scenarios)
  }

  /// The place of the history, if the user chose one.
  private var history: HistorySettings.Choice { arguments.history.choice }

  /// Whether a real lock is used, which only one run may do at a time.
  var isBench: Bool { arguments.device?.hasPrefix("lock:") ?? false }

  /// Whether the transport is an adapter of the kernel, which needs a capability.
  var needsAdapter: Bool { arguments.transport?.hasPrefix("hci-socket:") ?? false }

  /// The command that writes this recipe.
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

  /// The place where a program is called.
  enum Place {
    case checkout, container
  }

  /// The path of the program, for a shell.
  var program: String { shellWord(program(in: .checkout)) }

  /// The program.
  func program(in place: Place) -> String {
    command ?? (place == .checkout ? ".build/release/lockstep" : "lockstep")
  }

  /// The use of a run's results.
  enum Share {
    /// The run is complete by itself, with its own reports.
    case whole
    /// The run is one of many, which are merged.
    case shard
  }

  /// Whether a server stores the history, to which every run adds itself.
  var hasServer: Bool {
    if case .place(.postgres(_)) = history { true } else { false }
  }

  /// Whether the history is a file in the folder of reports, which must outlive a job.
  var keepsHistory: Bool { history == .usual }

  /// The place of the history as an option.
  private var historyWords: [String] {
    switch history {
    case .usual: []
    case .none: ["--history=none"]
    case .place(.file(let path)), .place(.postgres(let path)): ["--history=\(path)"]
    }
  }

  /// The options for the results of a run: a shard has neither a page nor a history file of its own.
  func plan(_ share: Share) -> [String] {
    switch share {
    case .whole: historyWords
    case .shard: ["--html=none"] + (hasServer ? historyWords : ["--history=none"])
    }
  }

  /// The arguments of a run.
  func words(out: String) -> [String] { ["run", "--out=\(out)"] + plan(.whole) + selection }

  /// The arguments of a night, or of its resumption.
  func nightWords(_ nightly: [String], resumes: Bool) -> [String] {
    ["nightly", "--out=\(out)"] + plan(.whole) + (resumes ? ["--resume"] : []) + nightly
  }

  /// The run as a shell command; `shard` and `out` are inserted unchanged for the shell.
  ///
  /// At its time limit the run receives a stop request; it completes a step and parks the lock.
  func runLine(shard: String? = nil, out: String, telling host: AnnotationHost? = nil) -> String {
    let plan = plan(shards > 1 ? .shard : .whole).map(shellWord)
    // For several parts, the report writes the annotations.
    let told = shards > 1 ? [] : Self.telling(host)
    let options = ["--out=\(out)"] + (shard.map { ["--shard=\($0)"] } ?? []) + told + plan
    return "timeout --preserve-status --kill-after=5m \(seconds) \(program) "
      + runWords(options)
  }

  /// The arguments of a run for a shell, with the options inserted unchanged.
  func runWords(out: String) -> String { runWords(["--out=\(out)"] + plan(.shard).map(shellWord)) }

  private func runWords(_ options: [String]) -> String {
    (["run"] + options + selection.map(shellWord)).joined(separator: " ")
  }

  /// The merging of several shards' results, as a shell command.
  ///
  /// A history without a server is updated afterwards, which does not change the outcome.
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

  /// The options for annotations on the host of the repository.
  private static func telling(_ host: AnnotationHost?) -> [String] {
    host.map { ["--annotations=\($0.rawValue)"] } ?? []
  }

  /// The time limit of a run, in seconds.
  var seconds: Int64 { max(arguments.limit.nanoseconds / 1_000_000_000, 1) }

  /// The time limit of the job: the run, its end, and building before it.
  var minutes: Int64 { (seconds + 59) / 60 + (command == nil ? 40 : 10) }

  /// The daily start as a crontab entry.
  var cron: String { "\(arguments.time.minute) \(arguments.time.hour) * * *" }
}

extension RecipeSettings {
  /// The arguments that lead to the same recipe.
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
    // Without a password.
    let place = history.words.last.map { "--history=\(withoutSecrets($0))" }
    return words + (place.map { [$0] } ?? [])
  }

  /// Throws for values that no recipe can contain, and for contradictions.
  fileprivate func check(_ kind: ScheduleKind) throws(UsageError) {
    let texts =
      scenarios + [plan, bench, device, transport, command, user, folder, image, claim].compactMap(\.self)
    for text in texts where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw UsageError("a recipe can hold no control characters: \(shellWord(text).debugDescription)")
    }
    try plain(name, of: "name", also: "_-.")
    // CI systems interpret it as a pattern, and shells as words.
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
      throw UsageError("--shards: \(kind.rawValue) takes at most 200 jobs")
    }
  }

  /// Throws unless a lock and its transport are given together.
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
        "a lock needs a transport: --transport usb:0, or another; 'lockstep doctor' lists the available "
          + "ones")
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
      throw UsageError("kubernetes runs containers: name an image that has lockstep with --image")
    }
    guard !(device?.hasPrefix("lock:") ?? false) else {
      throw UsageError("kubernetes drives no real lock: leave out --device, or choose another kind of recipe")
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
