import Journal
import System

/// The selection of a settings file and a profile.
public struct SettingsChoice {
  var file: String?
  var isOff = false
  var profile: String?
  var isShown = false
  /// Whether a settings file had an effect: a replay command must then ignore settings files.
  public fileprivate(set) var isInEffect = false

  /// The words that make a command line independent of where it is typed.
  public var words: [String] { isInEffect ? ["--no-config"] : [] }

  /// Creates an empty selection.
  public init() {}

  /// The options of the selection.
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

/// The source of options that are missing on a command line.
public enum SettingsSource {
  /// No source.
  case none
  /// Settings files, with the sections of these commands.
  case files(() -> [SettingsSection])
}

/// A command line combined with a settings file.
struct ConfiguredWords<Values> {
  /// The resulting values.
  let values: Values
  /// The text to print instead of running the command.
  let shown: String?

  /// Finds a settings file and parses the words again on top of its settings.
  ///
  /// The combined words become the command line of this process, so that resuming it needs no settings file.
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
    let configured =
      try file?.settings(of: name, in: profile, ordered: forms)
      .filter { setting in !typed.contains { $0.form.name == setting.name } } ?? []
    let stronger = TypedWords(
      options: typed.map { ($0.form.name, $0.value) }, operands: reading.operands.count)
    let resolved = configured.map { setting in
      (setting, override: forms.first { $0.name == setting.name }?.override(by: stronger, of: forms))
    }
    let settings = resolved.filter { $0.override == nil }.map(\.0)
    var values = reading.values
    if !settings.isEmpty {
      for word in configured.flatMap(\.words) { Secrecy.conceal(word) }
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
    let given = resolved.flatMap { setting, override in
      setting.words.map { (shellWord($0), setting.place + (override.map { ", " + $0 } ?? "")) }
    }
    var fromEnvironment: [(String, String)] = []
    for option in parser.options {
      guard let (value, variable) = try option.environmentValue(values) else { continue }
      fromEnvironment.append((shellWord(optionWord(option.name, value)), "\(variable) is set"))
    }
    let rest = typed.map { optionWord($0.form.name, $0.value) } + reading.operands
    let head =
      file.map { "lockstep \(name): profile '\(profile ?? SettingsFile.usualProfile)' of \($0.path)" }
      ?? "lockstep \(name): no \(SettingsFile.name)"
    shown = head + "\n" + columns(given + fromEnvironment + rest.map { (shellWord($0), "the command line") })
  }
}

extension SettingsChoice {
  /// The requested profile.
  fileprivate var wantedProfile: String? { profile ?? Host.variable("LOCKSTEP_PROFILE") }

  /// Returns the settings file that applies, if there is one.
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

/// The search for a settings file.
private enum SettingsSearch {
  static let extent = "it is looked for up to the root of the repository or the home folder"

  /// Returns the path of the nearest file.
  ///
  /// Outside all repositories and the home folder, only the current folder counts: other users may control the
  /// folders above, such as `/tmp`.
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
    // A broken link was meant to lead to a file.
    return fileKind(path) == .missing && linkTarget(path) == nil ? nil : path
  }
}
