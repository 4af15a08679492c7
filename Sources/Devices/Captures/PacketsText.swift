public import Basics
public import Bluetooth

/// Formats the packets of a capture for people and for programs; times are relative to a zero of the capture.
public struct PacketsText: Sendable {
  /// The time that counts as zero, in microseconds in the time base of captures.
  let zero: UInt64

  /// Creates a formatter with a zero of time.
  public init(zero: UInt64) {
    self.zero = zero
  }

  /// Returns the entry as an object in the format of the journal.
  public func json(_ entry: CaptureEntry) -> JSON {
    var members: [JSON.Member] = [.init("t", .text(trimmed(time(of: entry))))]
    if let controller = entry.controller { members.append(.init("controller", .number("\(controller)"))) }
    if let event = entry.event {
      members.append(.init("event", .text(event)))
    } else {
      members.append(.init("from", .text(entry.sender?.rawValue ?? "")))
      members.append(.init("bytes", .text(entry.hex)))
      let layers = entry.layers.map { layer -> JSON in
        ["layer": .text(layer.name), "text": .text(layer.text)]
      }
      members.append(.init("layers", .list(layers)))
    }
    return .mapping(members)
  }

  /// Returns one line with the highest decoded layer.
  public func line(_ entry: CaptureEntry) -> String {
    if let event = entry.event { return heading(entry) + "-- " + visible(event) }
    guard let layer = entry.layers.last else { return heading(entry) }
    // The reason why a message was not decrypted is shown with its frame.
    guard layer.name == "Plaintext", let frame = entry.layers.dropLast().last else {
      return heading(entry) + named(layer)
    }
    return heading(entry) + named(frame) + "; " + visible(layer.text)
  }

  /// Returns one line for each layer, and the bytes.
  public func lines(_ entry: CaptureEntry) -> String {
    guard entry.event == nil else { return line(entry) }
    var lines = [heading(entry) + "\(entry.bytes.count) bytes"]
    for layer in entry.layers { lines.append(Self.indentation + named(layer)) }
    return (lines + hexLines(entry)).joined(separator: "\n")
  }

  private static let indentation = spaces(14)

  private func heading(_ entry: CaptureEntry) -> String {
    time(of: entry).rightAligned(in: 12) + "  "
      + (entry.controller.map { padded("hci\($0)", 6) } ?? "") + padded(entry.sender?.rawValue ?? "", 12)
  }

  private func named(_ layer: CaptureEntry.Layer) -> String {
    padded(layer.name, 11) + visible(layer.text)
  }

  /// Returns the bytes, 32 per line.
  private func hexLines(_ entry: CaptureEntry) -> [String] {
    let digits = Array(entry.hex.utf8)
    return stride(from: 0, to: digits.count, by: 64).map { start in
      Self.indentation + padded(start == 0 ? "bytes" : "", 11)
        + String(decoding: digits[start..<min(start + 64, digits.count)], as: UTF8.self)
    }
  }

  private func padded(_ text: String, _ width: Int) -> String {
    (text + " ").leftAligned(in: width)
  }

  /// Returns the time in seconds with six decimals.
  private func time(of entry: CaptureEntry) -> String {
    let isBefore = entry.time < zero
    let distance = isBefore ? zero - entry.time : entry.time - zero
    let decimals = String(distance % 1_000_000 + 1_000_000).dropFirst()
    return (isBefore ? "-" : "") + "\(distance / 1_000_000).\(decimals)"
  }

  /// Removes trailing zeros from a time, but keeps three decimals.
  private func trimmed(_ time: String) -> String {
    var time = time[...]
    while time.last == "0", time.utf8.count - 4 > (time.firstIndex(of: ".")?.utf16Offset(in: time) ?? 0) {
      time = time.dropLast()
    }
    return String(time)
  }

  /// Escapes the characters that a terminal would interpret, or that would reverse the text direction.
  private func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isInvisible) else { return text }
    return text.unicodeScalars.map { scalar in
      isInvisible(scalar) ? "\\u{\(scalar.value.hex(digits: 1))}" : String(scalar)
    }.joined()
  }

  private func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
