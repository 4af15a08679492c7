import Basics
import Documents
import Journal
import System

/// A settings file. Its profiles set options of commands, which apply if the command line does not set them.
///
/// ```yaml
/// profiles:
///   default:
///     run: { jobs: 2 }
///   ci:
///     inherits: default
///     run: { retries: 1, filter: [ tag(smoke) ] }
/// ```
///
/// The options are those of the commands, and are parsed with the same table as a command line.
struct SettingsFile {
  /// The default name of the file.
  static let name = ".lockstep.yaml"
  /// The default profile.
  static let usualProfile = "default"
  private static let limits = Limits(bytes: 1 << 20)

  let path: String
  fileprivate let profiles: [Profile]

  /// Reads a file.
  ///
  /// - Parameter isFound: whether the file was found by a search instead of named by the user: then its owner must
  ///   be trusted.
  init(_ path: String, isFound: Bool, _ sections: [SettingsSection]) throws(UsageError) {
    let limit = Self.limits.bytes + 1
    let bytes = try checked {
      try isFound
        ? WholeFile.trustedBytes(of: path, limit: limit) : WholeFile.bytes(of: path, limit: limit)
    }
    self.path = path
    profiles = try checked { try Self.read(bytes, path, sections) }
  }

  /// Validates the text of a file, without any effect.
  static func check(
    _ bytes: [UInt8], _ name: String, _ sections: [SettingsSection]
  ) throws(DocumentError) {
    _ = try read(bytes, name, sections)
  }

  private static func read(
    _ bytes: [UInt8], _ name: String, _ sections: [SettingsSection]
  ) throws(DocumentError) -> [Profile] {
    // Error messages quote the lines, which may contain secrets.
    Secrecy.conceal(String(decoding: bytes, as: UTF8.self))
    let reader = SettingsReader(file: name, sections: sections)
    return try Document.read(bytes, name: name, limits: limits, as: reader.profiles)
  }

  /// Returns the settings of a command in a profile, including inherited ones; empty if no profile is named and
  /// there is no default.
  ///
  /// A profile overrides inherited settings like a command line overrides the file.
  ///
  /// - Parameter options: the command's options, which determine the order of the settings.
  func settings(
    of command: String, in profile: String?, ordered options: [OptionForm]
  ) throws(UsageError) -> [Setting] {
    let name = profile ?? Self.usualProfile
    guard var next = self[name] else {
      guard profile != nil else { return [] }
      let hint = profiles.isEmpty ? "there is none" : hint(for: name, of: profiles.map(\.name))
      throw UsageError("unknown profile '\(name)' of \(path): \(hint)")
    }
    var settings: [String: Setting] = [:]
    while true {
      let nearer = TypedWords(
        options: settings.values.flatMap { setting in setting.values.map { (setting.name, $0) } })
      for setting in next.settings[command] ?? [] where settings[setting.name] == nil {
        let form = options.first { $0.name == setting.name }
        guard form?.rivals.contains(where: nearer.contains) != true else { continue }
        settings[setting.name] = setting
      }
      guard let parent = next.parent, let found = self[parent] else { break }
      next = found
    }
    return options.compactMap { settings[$0.name] }.filter { !$0.values.isEmpty }
  }

  private subscript(name: String) -> Profile? { profiles.first { $0.name == name } }
}

/// The content of a profile.
private struct Profile {
  var name: String
  var parent: String?
  var settings: [String: [Setting]] = [:]
}

/// Reads the content of a settings file.
private struct SettingsReader {
  /// The key in a profile besides the commands.
  private static let inheritance = "inherits"

  let file: String
  let sections: [SettingsSection]

  func profiles(_ cursor: Cursor) -> [Profile]? {
    guard let fields = cursor.fields(["profiles"]), let entries = fields.required("profiles")?.entries()
    else { return nil }
    let profiles = entries.map { key, value in profile(key.node.text ?? "", value) }
    checkInheritance(entries)
    return profiles
  }

  private func profile(_ name: String, _ cursor: Cursor) -> Profile {
    var profile = Profile(name: name)
    guard let fields = cursor.fields([Self.inheritance] + sections.map(\.command)) else { return profile }
    profile.parent = fields.optional(Self.inheritance)?.text("the name of a profile")
    for section in sections {
      guard let cursor = fields.optional(section.command) else { continue }
      profile.settings[section.command] = settings(cursor, section)
    }
    return profile
  }

  private func settings(_ cursor: Cursor, _ section: SettingsSection) -> [Setting] {
    guard let fields = cursor.fields(section.options.map(\.form.name)) else { return [] }
    let folder = file.contains("/") ? String(file[...file.lastIndex(of: "/")!]) : ""
    return section.options.compactMap { option in
      let name = option.form.name
      guard let key = fields.key(name), let cursor = fields.optional(name) else { return nil }
      if let reservation = option.form.reservation, !option.isSettable {
        key.report(.conflict, "`\(name)` is for the command line alone: \(reservation.reason)")
        return nil
      }
      let values = option.values(cursor) { $0.hasPrefix("/") ? $0 : folder + $0 }
      return values.map { Setting(name: name, values: $0, place: "\(file):\(key.position)") }
    }
  }

  /// Checks that each chain of profiles ends in one without a parent.
  private func checkInheritance(_ entries: [(key: Cursor, value: Cursor)]) {
    let names = entries.map { $0.key.node.text ?? "" }
    var parents: [String: String] = [:]
    for (name, entry) in zip(names, entries) { parents[name] = entry.value.node[Self.inheritance]?.text }
    for (name, entry) in zip(names, entries) {
      guard let parent = parents[name],
        let cursor = entry.value.entries()?.first(where: { $0.key.node.text == Self.inheritance })?.value
      else { continue }
      guard names.contains(parent) else {
        cursor.report(.unknownName, "unknown profile `\(parent)`", hint: .nearest(to: parent, of: names))
        continue
      }
      var chain = [name]
      while let next = parents[chain[chain.count - 1]], chain.count <= names.count {
        chain.append(next)
        guard next != name else {
          cursor.report(.conflict, "a profile inherits from itself: \(chain.joined(separator: ", "))")
          break
        }
      }
    }
  }
}
