public import Bluetooth
import Basics

/// An error in a user's request to a server, with the correct form.
public struct GATTMistake: Error, Equatable, Sendable, CustomStringConvertible {
  /// One sentence, without a full stop.
  public var description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}

/// The name of an attribute in a user's request.
public enum AttributeName: Hashable, Sendable {
  /// The handle of the attribute, such as `0x0003`.
  case handle(AttributeHandle)
  /// The UUID of the attribute: `2a00`, all 128 bits, or `device-name`.
  case uuid(BluetoothUUID)

  /// Parses a name.
  public init(text: String) throws(GATTMistake) {
    if text.hasPrefix("0x") || text.hasPrefix("0X") {
      let digits = text.dropFirst(2)
      guard digits.utf8.count <= 4, digits.utf8.allSatisfy({ hexValue($0) != nil }),
        let number = UInt16(digits, radix: 16), number > 0
      else { throw GATTMistake("'\(text)' is no handle: they go from 0x0001 to 0xffff") }
      self = .handle(AttributeHandle(rawValue: number))
    } else if let uuid = BluetoothUUID(text: text) ?? BluetoothUUID(assignedName: text) {
      self = .uuid(uuid)
    } else {
      let nearest = nearestName(to: text, in: BluetoothUUID.assignedNames)
      throw GATTMistake(
        "'\(text)' is neither a UUID such as 2a00 nor a handle such as 0x0003"
          + (nearest.map { ": did you mean '\($0)'?" } ?? ""))
    }
  }
}

extension AttributeName: CustomStringConvertible {
  /// The handle, or the UUID with its name.
  public var description: String {
    switch self {
    case .handle(let handle): "\(handle)"
    case .uuid(let uuid): "\(uuid)" + (uuid.assignedName.map { " (\($0))" } ?? "")
    }
  }
}

/// A value to write, and its attribute: `fff1=0102`.
public struct AttributeWrite: Hashable, Sendable {
  /// The attribute.
  public var name: AttributeName
  /// The value, at most 512 bytes.
  public var value: [UInt8]

  /// The maximum length of a value (Core 5.4, Vol 3 Part F §3.2.9).
  public static let limit = 512

  /// Creates a write.
  public init(_ name: AttributeName, _ value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// Parses `fff1=0102`; the bytes of the value may have spaces, colons or hyphens between them, and `0x` before them.
  public init(text: String) throws(GATTMistake) {
    let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard sides.count == 2 else {
      throw GATTMistake("'\(text)' does not say what is to be written: UUID=HEX, such as fff1=0102")
    }
    try self.init(name: sides[0], value: sides[1])
  }

  /// Parses a name, and a value in hexadecimal.
  init(name: String, value: String) throws(GATTMistake) {
    self.init(try AttributeName(text: name), try Self.bytes(value))
  }

  private static func bytes(_ text: String) throws(GATTMistake) -> [UInt8] {
    var value: [UInt8] = []
    for part in text.split(whereSeparator: { " :-".contains($0) }) {
      let digits = part.hasPrefix("0x") || part.hasPrefix("0X") ? part.dropFirst(2) : part
      do throws(DecodeError) {
        value += try [UInt8](hex: digits)
      } catch {
        throw GATTMistake(
          "'\(text)' is no value in hexadecimal: two digits for each byte, such as 0102 or 01:02")
      }
    }
    guard value.count <= limit else {
      throw GATTMistake("a value of \(value.count) bytes is too long: no attribute holds more than \(limit)")
    }
    return value
  }
}

/// An operation that a user requests.
public enum GATTOperation: Hashable, Sendable {
  /// Show all attributes, and on request the readable values.
  case services(withValues: Bool)
  case read(AttributeName)
  /// Write with response if the characteristic offers that, else without; a command is always without response.
  case write(AttributeWrite, isCommand: Bool)
  /// Subscribe to a value: to notifications if the characteristic offers them, else to indications.
  case subscribe(AttributeName)
  case unsubscribe(AttributeName)
  /// Show the maximum size of a packet.
  case mtu
}

/// A line of input.
public enum GATTLine: Hashable, Sendable {
  case operation(GATTOperation)
  case help
  case quit
  /// An empty line, or a comment.
  case blank

  /// The help text of the input.
  public static let summary = """
    services [values]             all services, characteristics and descriptors; with what can be read of them
    read UUID|HANDLE              reads a value
    write UUID|HANDLE HEX         writes one, with response where the characteristic offers it
    write-command UUID|HANDLE HEX writes one without response
    subscribe UUID|HANDLE         shows notifications or indications from now on
    unsubscribe UUID|HANDLE       and no more
    mtu                           how long a packet may be
    quit                          disconnects
    """

  private static let words = [
    "services", "read", "write", "write-command", "subscribe", "unsubscribe", "mtu", "help", "quit",
  ]

  /// Parses a line; text after `#` is a comment.
  public init(text: String) throws(GATTMistake) {
    let line = text.prefix { $0 != "#" }
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
    guard let verb = words.first else {
      self = .blank
      return
    }
    let rest = Array(words.dropFirst())
    switch verb {
    case "services" where rest.isEmpty || rest == ["values"]:
      self = .operation(.services(withValues: !rest.isEmpty))
    case "read": self = .operation(.read(try Self.name(rest, verb)))
    case "write": self = .operation(.write(try Self.write(rest, verb), isCommand: false))
    case "write-command": self = .operation(.write(try Self.write(rest, verb), isCommand: true))
    case "subscribe": self = .operation(.subscribe(try Self.name(rest, verb)))
    case "unsubscribe": self = .operation(.unsubscribe(try Self.name(rest, verb)))
    case "mtu" where rest.isEmpty: self = .operation(.mtu)
    case "help" where rest.isEmpty: self = .help
    case "quit" where rest.isEmpty: self = .quit
    case "services", "mtu", "help", "quit":
      throw GATTMistake("'\(verb)' takes nothing such as '\(rest.joined(separator: " "))'")
    case _:
      let nearest = nearestName(to: verb, in: Self.words)
      throw GATTMistake(
        "there is no '\(verb)': "
          + (nearest.map { "did you mean '\($0)'?" } ?? "'help' lists what there is"))
    }
  }

  private static func name(_ words: [String], _ verb: String) throws(GATTMistake) -> AttributeName {
    guard !words.isEmpty else { throw GATTMistake("\(verb) what? \(verb) UUID, or \(verb) HANDLE") }
    // Assigned names contain spaces.
    return try AttributeName(text: words.joined(separator: " "))
  }

  private static func write(_ words: [String], _ verb: String) throws(GATTMistake) -> AttributeWrite {
    if words.first?.contains("=") == true { return try AttributeWrite(text: words.joined(separator: " ")) }
    guard words.count > 1 else { throw GATTMistake("what is to be written, and where? \(verb) UUID HEX") }
    return try AttributeWrite(name: words[0], value: words.dropFirst().joined(separator: " "))
  }
}
