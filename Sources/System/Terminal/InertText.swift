import Basics

// Makes untrusted text harmless in a terminal. Names, reasons and traces come from locks and from users who
// name files. Their control sequences are not executed, and their text cannot be mistaken for ours.

extension Painter.Style {
  /// A secret in our own marks, drawn by each process, so that external text cannot contain a mark.
  private static let seal = String(SystemEntropy().next())

  /// The beginning of our own marks. They are control sequences themselves, so that code that measures or
  /// cuts painted text needs to know only one form.
  private static let prefix = "\u{1B}[" + seal

  /// The mark that begins the style in unwritten text.
  var mark: String { Self.prefix + rawValue + "m" }

  /// The mark that ends each style.
  static let endMark = prefix + "0m"

  /// The terminal sequence for the mark at the beginning of a text, if there is one, and the mark's length.
  fileprivate static func sequence(
    for text: Substring.UnicodeScalarView
  ) -> (sequence: String, length: Int)? {
    guard text.starts(with: prefix.unicodeScalars) else { return nil }
    let rest = text.dropFirst(prefix.unicodeScalars.count)
    for code in Self.allCases.map(\.rawValue) + ["0"] where rest.starts(with: (code + "m").unicodeScalars) {
      return ("\u{1B}[\(code)m", prefix.unicodeScalars.count + code.unicodeScalars.count + 1)
    }
    return nil
  }
}

extension String {
  /// The text with control sequences written in the form `\u{1B}`, except for line feeds, tabs and the marks
  /// of a ``Painter``.
  public var inert: String {
    guard unicodeScalars.contains(where: \.isObeyed) else { return self }
    var rest = self[...].unicodeScalars
    var result = ""
    while let scalar = rest.first {
      if scalar == "\u{1B}", let (sequence, length) = Painter.Style.sequence(for: rest) {
        result += sequence
        rest = rest.dropFirst(length)
        continue
      }
      if scalar.isObeyed {
        result += scalar.escaped(asASCII: true)
      } else {
        result.unicodeScalars.append(scalar)
      }
      rest = rest.dropFirst()
    }
    return result
  }

  /// A line of JSON with the same written as JSON escapes, such as `\u009b`: it occurs in strings only, and
  /// the meaning is unchanged.
  public var inertJSON: String {
    guard unicodeScalars.contains(where: \.isObeyed) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isObeyed {
        result += "\\u" + scalar.value.hex(digits: 4)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The text in one line: line ends are escaped, so that a name cannot be mistaken for one of our lines.
  public var inOneLine: String {
    guard unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }) else { return self }
    return replacing("\r\n", with: "\\r\\n").replacing("\n", with: "\\n").replacing("\r", with: "\\r")
  }
}

extension Unicode.Scalar {
  /// Whether a terminal interprets it instead of showing it: the control characters of ASCII and ISO 6429,
  /// those that change the direction of writing, which can disguise a name, and other line ends.
  fileprivate var isObeyed: Bool {
    switch value {
    case 0x09, 0x0A: false
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
