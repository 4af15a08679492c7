import Basics

/// The address of a lab's coordinator: `labgrid://HOST:PORT`.
public struct LabAddress: Equatable, Sendable, CustomStringConvertible {
  /// The host, without the brackets of an IPv6 address.
  public let host: String
  /// The port; labgrid's default if omitted.
  public let port: Int

  /// The default port of labgrid's coordinator.
  public static let usualPort = 20408

  private static let scheme = "labgrid://"

  /// Reads `labgrid://HOST` or `labgrid://HOST:PORT`; `nil` when it is neither.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.scheme) else { return nil }
    var rest = text.dropFirst(Self.scheme.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    let host: Substring
    var port: Substring?
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      let tail = rest[rest.index(after: end)...]
      guard tail.isEmpty || tail.hasPrefix(":") else { return nil }
      if !tail.isEmpty { port = tail.dropFirst() }
      guard host.contains(":") else { return nil }
    } else {
      let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2 else { return nil }
      host = parts[0]
      if parts.count == 2 { port = parts[1] }
    }
    guard !host.isEmpty, host.utf8.allSatisfy(Self.isPlain) else { return nil }
    if let port {
      guard let number = Int(port), (1...65535).contains(number), port.first != "+" else { return nil }
      self.port = number
    } else {
      self.port = Self.usualPort
    }
    self.host = String(host)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "-._:%".utf8.contains(byte)
  }

  /// The address as labgrid accepts it: `HOST:PORT`.
  public var endpoint: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

  /// The text form.
  public var description: String { Self.scheme + endpoint }
}

/// A tag of a place: `model=sesame5`.
public struct LabTag: Equatable, Sendable, CustomStringConvertible {
  /// The tag's key.
  public let key: String
  /// The tag's value.
  public let value: String

  /// Reads `KEY=VALUE`; `nil` if labgrid does not accept it.
  public init?(_ text: String) {
    let sides = text.split(separator: "=", omittingEmptySubsequences: false)
    guard sides.count == 2, let first = sides[0].utf8.first, (97...122).contains(first),
      sides[0].utf8.count > 1,
      !sides[1].isEmpty,
      sides[0].utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }),
      text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && $0 != "," })
    else { return nil }
    (key, value) = (String(sides[0]), String(sides[1]))
  }

  /// Reads `KEY=VALUE,KEY=VALUE`; `nil` if labgrid does not accept one of them.
  public static func list(_ text: String) -> [LabTag]? {
    var tags: [LabTag] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let tag = LabTag(String(part)) else { return nil }
      tags.append(tag)
    }
    return tags
  }

  /// The text form.
  public var description: String { "\(key)=\(value)" }
}
