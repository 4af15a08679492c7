import Basics
import Files
import Journal
/// A piece of a page: literals are markup, and interpolated strings are text.
///
/// Text of a journal cannot become markup: ``escapedForHTML(_:)`` is the only conversion from a string.
package struct Markup: Hashable {
  package private(set) var source: String

  /// Makes empty markup.
  package init() { source = "" }

  /// Makes markup from an embedded file.
  init(_ file: EmbeddedFile) { source = file.text }

  package static func += (markup: inout Markup, other: Markup) { markup.source += other.source }
}

extension Markup: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var source = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      source.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    package mutating func appendLiteral(_ literal: StaticString) { source += literal.description }
    package mutating func appendInterpolation(_ text: String) { source += escapedForHTML(text) }
    package mutating func appendInterpolation(_ number: Int) { source += String(number) }
    package mutating func appendInterpolation(_ markup: Markup) { source += markup.source }
  }

  package init(stringLiteral value: StaticString) { source = value.description }
  package init(stringInterpolation: StringInterpolation) { source = stringInterpolation.source }
}

extension Sequence<Markup> {
  /// The concatenation of all pieces.
  package func joined(separator: Markup = "") -> Markup {
    var (result, isFirst) = (Markup(), true)
    for piece in self {
      if !isFirst { result += separator }
      result += piece
      isFirst = false
    }
    return result
  }
}

extension Sequence {
  /// The concatenation of a piece for each element.
  package func markup(_ piece: (Element) -> Markup) -> Markup { map(piece).joined() }
}

/// Text for use between tags and in quoted attributes.
///
/// It also makes invisible characters visible: those of ``visible(_:)``, other control characters, characters
/// without width, and noncharacters.
func escapedForHTML(_ text: String) -> String {
  guard text.utf8.contains(where: mayNeedEscape) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in visible(text).unicodeScalars {
    switch scalar {
    case "&": result += "&amp;".unicodeScalars
    case "<": result += "&lt;".unicodeScalars
    case ">": result += "&gt;".unicodeScalars
    case "\"": result += "&quot;".unicodeScalars
    case "'": result += "&#39;".unicodeScalars
    case "\n", "\t": result.append(scalar)
    default:
      if isInvisible(scalar) {
        result += escaped(scalar.value).unicodeScalars
      } else {
        result.append(scalar)
      }
    }
  }
  return String(result)
}

/// Whether a byte may need an escape: markup, controls, or the first byte of a non-ASCII character.
private func mayNeedEscape(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
  default: byte < 0x20 || byte > 0x7E
  }
}

private func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7F..<0xA0, 0xAD: true
  // Direction marks, and characters that invisibly join, separate or break words or lines.
  case 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E: true
  case 0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0xFDD0...0xFDEF: true
  // Tag characters spell invisible text.
  case 0xE0000...0xE0FFF: true
  default: scalar.value & 0xFFFE == 0xFFFE
  }
}
