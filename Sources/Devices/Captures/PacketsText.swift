public import Basics
public import Bluetooth

/// Packets of a capture as people and programs read them; times count from one of the capture's.
public struct PacketsText: Sendable {
  /// When the time is zero, in microseconds as captures count them.
  let zero: UInt64

  /// Counts times from one of the capture's.
  public init(zero: UInt64) {
    self.zero = zero
  }

  /// An object of the journal's format.
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

  /// One line: the highest layer that was reached.
  public func line(_ entry: CaptureEntry) -> String {
    if let event = entry.event { return heading(entry) + "-- " + visible(event) }
    guard let layer = entry.layers.last else { return heading(entry) }
    // Why something encrypted was not read goes with the frame that it is.
    guard layer.name == "Plaintext", let frame = entry.layers.dropLast().last else {
      return heading(entry) + named(layer)
    }
    return heading(entry) + named(frame) + "; " + visible(layer.text)
  }

  /// A line for each layer, and one for the bytes.
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

  /// 32 bytes a line.
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

  /// Seconds with six decimals.
  private func time(of entry: CaptureEntry) -> String {
    let isBefore = entry.time < zero
    let distance = isBefore ? zero - entry.time : entry.time - zero
    let decimals = String(distance % 1_000_000 + 1_000_000).dropFirst()
    return (isBefore ? "-" : "") + "\(distance / 1_000_000).\(decimals)"
  }

  /// A time without the zeros that say nothing; three decimals stay.
  private func trimmed(_ time: String) -> String {
    var time = time[...]
    while time.last == "0", time.utf8.count - 4 > (time.firstIndex(of: ".")?.utf16Offset(in: time) ?? 0) {
      time = time.dropLast()
    }
    return String(time)
  }

  /// The text without what a terminal would obey, or what would turn a line round.
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
