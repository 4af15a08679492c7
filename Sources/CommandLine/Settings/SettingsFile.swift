import Basics
import Documents
import Journal
import System

/// A file of settings: profiles, each of which says of some commands what holds where their command lines say nothing.
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
/// The options are those of the commands, by the same table that reads a command line.
struct SettingsFile {
  /// What it is called where nobody names another.
  static let name = ".lockstep.yaml"
  /// The profile that holds where none is named.
  static let usualProfile = "default"
  private static let limits = Limits(bytes: 1 << 20)

  let path: String
  fileprivate let profiles: [Profile]

  /// Reads a file.
  ///
  /// - Parameter isFound: whether it was looked for, and named by nobody: then it must belong to somebody whom we trust.
  init(_ path: String, isFound: Bool, _ sections: [SettingsSection]) throws(UsageError) {
    let limit = Self.limits.bytes + 1
    let bytes = try checked {
      try isFound
        ? WholeFile.trustedBytes(of: path, limit: limit) : WholeFile.bytes(of: path, limit: limit)
    }
    self.path = path
    profiles = try checked { try Self.read(bytes, path, sections) }
  }

  /// Reads a file that somebody has open, and does nothing.
  static func check(
    _ bytes: [UInt8], _ name: String, _ sections: [SettingsSection]
  ) throws(DocumentError) {
    _ = try read(bytes, name, sections)
  }

  private static func read(
    _ bytes: [UInt8], _ name: String, _ sections: [SettingsSection]
  ) throws(DocumentError) -> [Profile] {
    // What is wrong is shown with the line that it stands in.
    Secrecy.conceal(String(decoding: bytes, as: UTF8.self))
    let reader = SettingsReader(file: name, sections: sections)
    return try Document.read(bytes, name: name, limits: limits, as: reader.profiles)
  }

  /// What a profile says of a command, with what it inherits; none where no profile is named and there is no usual one.
  ///
  /// A profile puts aside what it inherits as a command line puts aside what the file says.
  ///
  /// - Parameter options: the command's options, in the order in which the settings are given.
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

/// What stands below the name of a profile.
private struct Profile {
  var name: String
  var parent: String?
  var settings: [String: [Setting]] = [:]
}

/// Reads what a file of settings says.
private struct SettingsReader {
  /// What stands beside the commands of a profile.
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

  /// Makes sure that every profile leads to one that inherits from none.
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
      var way = [name]
      while let next = parents[way[way.count - 1]], way.count <= names.count {
        way.append(next)
        guard next != name else {
          cursor.report(.conflict, "a profile inherits from itself: \(way.joined(separator: ", "))")
          break
        }
      }
    }
  }
}
