import Sesame
import Bluetooth
import Conformance
import Basics

// The arguments of the client's requests in a scenario: a tag, positions, a delay. Only this file parses their
// names and values.

extension ClientRequest {
  /// Returns the request with its arguments.
  ///
  /// - Throws: a fault that names the invalid argument and what was expected.
  func with(_ arguments: [Argument]) throws(LabFault) -> ClientRequest {
    guard let first = arguments.first else { return self }
    switch self {
    case .lock: return .lock(try arguments.tag())
    case .unlock: return .unlock(try arguments.tag())
    case .toggle: return .toggle(try arguments.tag())
    case .configure(let usualLock, let usualUnlock, _):
      try arguments.check(names: ["lock", "unlock", "from"])
      var (lock, unlock, isFromBolt) = (usualLock, usualUnlock, false)
      for argument in arguments {
        switch argument.name {
        case "lock": lock = try argument.degrees()
        case "unlock": unlock = try argument.degrees()
        default: isFromBolt = try argument.isBolt()
        }
      }
      return .configure(lock: lock, unlock: unlock, isFromBolt: isFromBolt)
    case .register:
      try arguments.check(names: ["login"])
      guard first.value.isYesOrNo else { throw first.problem("yes or no") }
      return .register(thenLogin: !first.value.isNothing)
    case .setAutolock:
      try arguments.check(names: [first.name == Argument.only ? Argument.only : "delay"])
      return .setAutolock(seconds: try first.delay())
    default:
      try arguments.check(names: [])
      return self
    }
  }
}

extension [Argument] {
  fileprivate func tag() throws(LabFault) -> HistoryTag {
    try check(names: ["tag", "bytes", "typed"])
    guard count == 1 else {
      throw LabFault(.notPossible, "it takes one of tag, bytes and typed, and not several")
    }
    return try self[0].tag()
  }
}

extension Argument {
  fileprivate func problem(_ expected: String) -> LabFault {
    let subject = name == Self.only ? "it takes" : "`\(name)` is"
    return LabFault(.notPossible, "\(subject) \(expected), and not '\(value)'")
  }

  /// Parses a tag: a text, or bytes in hexadecimal, of which the first that fit are used. Under `typed`, it is the
  /// format of newer apps in hexadecimal: a type of two bytes, a UUID of sixteen, and the rest.
  fileprivate func tag() throws(LabFault) -> HistoryTag {
    let text = value.description
    if name == "tag" { return .text(text, for: .os3) }
    guard let bytes = try? [UInt8](hex: text) else { throw problem("bytes in hexadecimal, two digits each") }
    if name == "bytes" { return .text([UInt8](bytes.prefix(HistoryTag.os3Capacity))) }
    var reader = ByteReader(bytes.span)
    guard let tag = try? HistoryTag(decoding: &reader, for: .os3), case .typed = tag else {
      throw problem("a type of two bytes, the sixteen of a UUID and what follows them, in hexadecimal")
    }
    return tag
  }

  fileprivate func degrees() throws(LabFault) -> Int {
    guard case .integer(let degrees) = value, Int16(exactly: degrees) != nil else {
      throw problem("an angle in whole degrees")
    }
    return degrees
  }

  fileprivate func isBolt() throws(LabFault) -> Bool {
    guard value == .text("bolt") else { throw problem("bolt, so that angles count from where that is") }
    return true
  }

  /// Parses a time in whole seconds, within the range that the protocol can encode.
  fileprivate func delay() throws(LabFault) -> Int {
    let seconds: Int64? =
      switch value {
      case .integer(let seconds): Int64(seconds)
      case .duration(let interval):
        .seconds(Int64(interval.seconds)) == interval ? Int64(interval.seconds) : nil
      default: nil
      }
    guard let seconds, (0...Int64(Int16.max)).contains(seconds) else {
      throw problem("a delay in whole seconds, up to \(Int16.max) s")
    }
    return Int(seconds)
  }
}
