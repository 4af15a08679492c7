import Documents

/// A device specification, as written on the command line or in a scenario.
///
///     emulator:sesame5?defect=deaf-unlock&loss=0.01      an emulated device and its settings
///     sesame5                                            the same, without settings
///     exec:python3 door.py                               any program
///     driver:python3 keypad.py?peripheral=python3 lock.py  a lock that a program emulates, driven by a program
///     lock:keys/front-door.yaml                          a real lock
public struct DeviceSpec: Equatable, Sendable {
  /// The kinds of devices: the text before the colon.
  public enum Kind: String, CaseIterable, Sendable {
    /// An emulated device, by its name.
    case emulator
    /// A program, by its command.
    case exec
    /// A program that speaks a lock's protocol over our Bluetooth stack, by its command.
    case driver
    /// A real lock, by the file that describes it.
    case lock
  }

  /// The options of a driver, in addition to its command: the program that emulates its lock, the packet loss, and
  /// the file with their secrets.
  public static let driverOptions = ["peripheral", "loss", "secrets"]

  /// A setting of the device: a start condition or an option of its own.
  public struct Setting: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The value, as written.
    public var value: String

    /// Makes a setting.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The kind of device.
  public var kind: Kind
  /// The emulator's name, the command or the file.
  public var name: String
  /// The settings, in the order given.
  public var settings: [Setting]

  /// Makes a specification.
  public init(_ kind: Kind, _ name: String, _ settings: [Setting] = []) {
    self.kind = kind
    self.name = name
    self.settings = settings
  }

  /// Reads the text form. Everything after `exec:` is the command. The command of a driver ends before a `?` that is
  /// followed by one of the driver's options.
  ///
  /// A setting without a value is on: `emulator:sesame5?jam`.
  public init(text: String) throws(DeviceProblem) {
    var kind = Kind.emulator
    var rest = Substring(text)
    if let colon = text.firstIndex(of: ":") {
      let word = String(text[..<colon])
      guard let known = Kind(rawValue: word) else {
        let kinds = Kind.allCases.map(\.rawValue)
        throw DeviceProblem(
          .name, code: .unknownDevice, "unknown kind of device `\(word)`",
          hint: .nearest(to: word, of: kinds, or: DeviceProblem.allOf))
      }
      kind = known
      rest = text[text.index(after: colon)...]
    }
    guard kind == .emulator else {
      guard !rest.isEmpty else {
        throw DeviceProblem(.name, "nothing follows `\(kind.rawValue):`")
      }
      self.init(kind, String(rest))
      if kind == .driver { try takeDriverOptions() }
      return
    }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = parts.first, !name.isEmpty else {
      throw DeviceProblem(.name, "no device is named")
    }
    var settings: [Setting] = []
    if parts.count > 1 {
      for item in parts[1].split(separator: "&") {
        let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard !sides[0].isEmpty else { throw DeviceProblem(.name, "a setting without a name: `\(item)`") }
        let name = String(sides[0])
        // A device may have several defects; every other setting occurs once.
        guard name == "defect" || !settings.contains(where: { $0.name == name }) else {
          throw DeviceProblem(.setting(name), "`\(name)` is given twice")
        }
        settings.append(Setting(name, sides.count > 1 ? String(sides[1]) : "true"))
      }
    }
    self.init(kind, String(name), settings)
  }
}

extension DeviceSpec {
  /// The settings, without those that identify the lock: a driver's lock and its secrets.
  public var ownSettings: [Setting] {
    settings.filter { kind != .driver || !["peripheral", "secrets"].contains($0.name) }
  }

  /// Removes the options of a driver from the end of its command. Each follows `?` or `&` and contains `=`;
  /// other occurrences of these characters belong to the command.
  private mutating func takeDriverOptions() throws(DeviceProblem) {
    var rest = Substring(name)
    var parts: [(mark: Substring, begin: Substring.Index)] = []
    for index in rest.indices where rest[index] == "?" || rest[index] == "&" {
      guard rest[index] == "&" ? !parts.isEmpty : parts.isEmpty else { continue }
      let behind = rest[rest.index(after: index)...]
      if let option = Self.driverOptions.first(where: { behind.hasPrefix($0 + "=") }) {
        parts.append((behind.prefix(option.count), index))
      }
    }
    for (mark, begin) in parts.reversed() {
      let option = String(mark)
      guard !settings.contains(where: { $0.name == option }) else {
        throw DeviceProblem(.setting(option), "`\(option)` is given twice")
      }
      settings.insert(Setting(option, String(rest[begin...].dropFirst(option.count + 2))), at: 0)
      rest = rest[..<begin]
    }
    name = String(rest)
    guard !name.isEmpty else { throw DeviceProblem(.name, "nothing follows `driver:`") }
    try check()
  }

  /// Throws if a driver has no lock to drive.
  public func check() throws(DeviceProblem) {
    guard kind == .driver, !settings.contains(where: { $0.name == "peripheral" && !$0.value.isEmpty }) else {
      return
    }
    throw DeviceProblem(
      .setting("peripheral"), "a driver needs a lock, and none is named",
      hint: .words(
        "`driver:COMMAND?peripheral=COMMAND` for one that a program plays; `lock:FILE` for a real one whose file has "
          + "`driver: COMMAND`"))
  }
}

extension DeviceSpec: CustomStringConvertible {
  /// The text form; parsing it gives an equal specification.
  public var description: String {
    let list = settings.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return "\(kind.rawValue):\(name)" + (list.isEmpty ? "" : "?" + list)
  }
}
