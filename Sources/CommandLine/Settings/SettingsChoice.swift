import Journal
import System

/// Which file of settings holds, and which of its profiles.
public struct SettingsChoice {
  var file: String?
  var isOff = false
  var profile: String?
  var isShown = false
  /// Whether a file said anything: a line to paste has to say that it takes nothing from one.
  public fileprivate(set) var isInEffect = false

  /// What a command line says that is to mean the same wherever it is typed.
  public var words: [String] { isInEffect ? ["--no-config"] : [] }

  /// Nothing is said.
  public init() {}

  /// The options.
  public static var options: [Option<SettingsChoice>] {
    let reason = "it says which file is read"
    return [
      .value(
        "profile", \.profile, "NAME",
        "The profile of \(SettingsFile.name), whose options apply if the command line does not give "
          + "them. Default: LOCKSTEP_PROFILE, or 'default'.", example: "ci"
      ).typedOnly(since: reason),
      .value(
        "config", \.file, "FILE",
        "Reads options from this file instead of \(SettingsFile.name). Default: LOCKSTEP_CONFIG, or the file "
          + "in the current folder or in one above it in the repository or the home folder.",
        example: "lab/lockstep.yaml", as: .file
      ).typedOnly(since: reason),
      .flag(
        "no-config", \.isOff, "Reads no options from a file, like LOCKSTEP_CONFIG=none."
      ).typedOnly(since: reason),
      .flag(
        "show-config", \.isShown,
        "Prints the options in effect, each with its origin, and does nothing else."
      ).typedOnly(since: "nothing would be done any more"),
    ]
  }
}

/// Where options are looked for that a command line leaves out.
public enum SettingsSource {
  /// Nowhere.
  case none
  /// In files of settings, which say something of these commands.
  case files(() -> [SettingsSection])
}

/// A command line, after what a file says.
struct ConfiguredWords<Values> {
  /// What holds.
  let values: Values
  /// What is to be shown in place of doing anything.
  let shown: String?

  /// Looks for a file, and reads the words once more after what it says.
  ///
  /// From then on what this process was asked for is what holds: who takes it up again needs no file.
  init(
    _ name: String, _ parser: ArgumentParser<Values>, _ words: [String],
    _ reading: ArgumentParser<Values>.Reading, _ defaults: Values,
    keeping path: WritableKeyPath<Values, SettingsChoice>, from source: SettingsSource
  ) throws(UsageError) {
    let choice = reading.values[keyPath: path]
    let typed = reading.options.filter { option in
      !SettingsChoice.options.contains { $0.name == option.form.name }
    }
    let file = try choice.file(source, typed: typed.map(\.form))
    let profile = choice.wantedProfile
    let forms = parser.options.map(\.form)
    let said =
      try file?.settings(of: name, in: profile, ordered: forms)
      .filter { setting in !typed.contains { $0.form.name == setting.name } } ?? []
    let stronger = TypedWords(
      options: typed.map { ($0.form.name, $0.value) }, operands: reading.operands.count)
    let weighed = said.map { setting in
      (setting, override: forms.first { $0.name == setting.name }?.override(by: stronger, of: forms))
    }
    let settings = weighed.filter { $0.override == nil }.map(\.0)
    var values = reading.values
    if !settings.isEmpty {
      for word in said.flatMap(\.words) { Secrecy.conceal(word) }
      values = try parser.read(words, into: defaults, after: settings)?.values ?? values
      values[keyPath: path].isInEffect = true
      Invocation.words =
        [name, "--no-config"] + settings.flatMap(\.words)
        + typed.map { optionWord($0.form.name, $0.value) }
        + (reading.operands.contains { $0.hasPrefix("-") } ? ["--"] : []) + reading.operands
    }
    self.values = values
    guard choice.isShown else {
      shown = nil
      return
    }
    let given = weighed.flatMap { setting, override in
      setting.words.map { (shellWord($0), setting.place + (override.map { ", " + $0 } ?? "")) }
    }
    var told: [(String, String)] = []
    for option in parser.options {
      guard let (value, variable) = try option.told(values) else { continue }
      told.append((shellWord(optionWord(option.name, value)), "\(variable) is set"))
    }
    let rest = typed.map { optionWord($0.form.name, $0.value) } + reading.operands
    let head =
      file.map { "lockstep \(name): profile '\(profile ?? SettingsFile.usualProfile)' of \($0.path)" }
      ?? "lockstep \(name): no \(SettingsFile.name)"
    shown = head + "\n" + columns(given + told + rest.map { (shellWord($0), "the command line") })
  }
}

extension SettingsChoice {
  /// The profile that is asked for.
  fileprivate var wantedProfile: String? { profile ?? Host.variable("LOCKSTEP_PROFILE") }

  /// The file that holds, if one does.
  fileprivate func file(
    _ source: SettingsSource, typed: [OptionForm]
  ) throws(UsageError) -> SettingsFile? {
    let isAsked = profile.map { "--profile \($0)" } ?? file.map { "--config \($0)" }
    if isOff, let isAsked {
      throw UsageError("--no-config leaves nothing to \(isAsked): leave one of them out")
    }
    if let option = typed.first(where: { $0.reservation?.standsAlone == true }) {
      guard let isAsked else { return nil }
      throw UsageError(
        "\(isAsked): with --\(option.name) nothing is taken from a file: \(option.reservation!.reason)")
    }
    guard case .files(let sections) = source, !isOff else { return nil }
    if let named = file ?? Host.variable("LOCKSTEP_CONFIG") {
      guard named == "none", file == nil else {
        return try SettingsFile(named, isFound: false, sections())
      }
      if let isAsked { throw UsageError("\(isAsked): LOCKSTEP_CONFIG=none has no file read") }
      return nil
    }
    if let found = SettingsSearch.file() {
      if let target = linkTarget(found), fileKind(found) == .missing {
        throw UsageError("\(found) is a link to \(target), and nothing is there: mend the link, or remove it")
      }
      return try SettingsFile(found, isFound: true, sections())
    }
    if let wantedProfile {
      let asked = profile == nil ? "LOCKSTEP_PROFILE=\(wantedProfile)" : "--profile \(wantedProfile)"
      throw UsageError("\(asked): there is no \(SettingsFile.name) here, nor above: \(SettingsSearch.extent)")
    }
    return nil
  }
}

/// Where a file of settings is looked for that nobody names.
private enum SettingsSearch {
  static let extent = "it is looked for up to the root of the repository or the home folder"

  /// The path of the nearest file.
  ///
  /// Outside of any repository and of the home folder only the current folder counts: what lies above, such as `/tmp`, may
  /// be anybody's.
  static func file() -> String? {
    let home = Host.variable("HOME").flatMap(realPath)
    var (folder, prefix, found) = (Host.folder, "", String?.none)
    let first = existing(in: "")
    while true {
      if found == nil { found = existing(in: prefix) }
      if folder == home || fileKind(prefix + ".git") != .missing { return found }
      guard folder.count > 1, let end = folder.lastIndex(of: "/") else { return first }
      folder = end == folder.startIndex ? "/" : String(folder[..<end])
      prefix += "../"
    }
  }

  private static func existing(in folder: String) -> String? {
    let path = folder + SettingsFile.name
    // A link that leads nowhere was meant to lead to a file.
    return fileKind(path) == .missing && linkTarget(path) == nil ? nil : path
  }
}
