import Basics

// Makes untrusted text harmless in a terminal. Names, reasons and traces come from others: from locks, and from users
// who name files. No control sequence of theirs is executed, and none of their text can look like ours.

extension Painter.Style {
  /// A secret that only our own marks contain, drawn by each process, so that external text cannot contain one.
  private static let seal = String(SystemEntropy().next())

  /// What our own marks begin with; a control sequence themselves, so that whatever measures or cuts painted text needs
  /// to know of one form only.
  private static let prefix = "\u{1B}[" + seal

  /// What begins the style in a text that is not written yet.
  var mark: String { Self.prefix + rawValue + "m" }

  /// What ends each of them there.
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
  /// The text with what a terminal would obey written out, such as `\u{1B}`, but for lines, tabs and what a ``Painter`` of
  /// ours has put there.
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

  /// A line of JSON with the same written as JSON writes it, such as `\u009b`: it stands in strings only, and says the
  /// same as before.
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

  /// The text in one line: what would begin another one is written out, so that a name is not taken for a line of ours.
  public var inOneLine: String {
    guard unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }) else { return self }
    return replacing("\r\n", with: "\\r\\n").replacing("\n", with: "\\n").replacing("\r", with: "\\r")
  }
}

extension Unicode.Scalar {
  /// Whether a terminal does something else with it than show it: the controls of ASCII and of ISO 6429, what turns the
  /// direction of writing, with which a name can lie, and the line ends that are not ours.
  fileprivate var isObeyed: Bool {
    switch value {
    case 0x09, 0x0A: false
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
