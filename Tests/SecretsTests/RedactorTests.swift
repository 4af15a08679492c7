import TestSupport
import Testing

@testable import Secrets

/// Bytes whose base64 has both characters in which the alphabets differ.
private let key: [UInt8] = [
  0x4A, 0x7E, 0x5C, 0x2A, 0x49, 0x3B, 0x0E, 0x4B, 0xFA, 0x9F, 0x51, 0x0D, 0x1F, 0xFB, 0xEF, 0xBE,
]
private let password = "p@ss/w\"örd&7 \\x"

private func hex(_ bytes: [UInt8], _ prefix: String = "", between: String = "", upper: Bool = false) -> String
{
  bytes.map { byte in
    let digits = String(byte, radix: 16, uppercase: upper)
    return prefix + (digits.count < 2 ? "0" : "") + digits
  }.joined(separator: between)
}

private func base64(_ bytes: [UInt8], url: Bool = false) -> String {
  let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + (url ? "-_" : "+/"))
  var text = ""
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[start..<min(start + 3, bytes.count)]
    let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
    for place in 0...group.count { text.append(letters[bits >> (18 - 6 * place) & 63]) }
    text += String(repeating: "=", count: 3 - group.count)
  }
  return text
}

private func wrapped(_ text: String, at width: Int, with end: String) -> String {
  let letters = Array(text)
  return stride(from: 0, to: letters.count, by: width).map {
    String(letters[$0..<min($0 + width, letters.count)])
  }
  .joined(separator: end)
}

/// Every form in which a key might be written.
private var texts: [(name: String, text: String)] {
  var all: [(String, String)] = []
  for (order, bytes) in [("", key), ("reversed ", Array(key.reversed()))] {
    for (name, between) in [
      ("hex", ""), ("spaced hex", " "), ("hex with colons", ":"), ("hex with dashes", "-"),
      ("hex with commas", ", "), ("hex on lines", "\n    "), ("hex in JSON", "\",\""),
    ] {
      for upper in [false, true] { all.append((order + name, hex(bytes, between: between, upper: upper))) }
    }
    for (prefix, between) in [
      ("0x", ""), ("0x", ", "), ("0X", ",\n"), ("\\x", ""), ("\\u00", ""), ("%", ""), ("&#x", ";"),
      ("\\", ""),
    ] { all.append((order + "hex with " + prefix, hex(bytes, prefix, between: between))) }
    for lead in 0..<3 {
      let around = [UInt8](repeating: 0x41, count: lead) + bytes
      for tail in 0..<3 {
        let text = base64(around + [UInt8](repeating: 7, count: tail))
        all.append((order + "base64 \(lead) \(tail)", text))
        all.append((order + "base64 without padding", text.filter { $0 != "=" }))
      }
      let text = base64(around)
      all.append((order + "base64 of URLs", base64(around, url: true)))
      all.append((order + "wrapped base64", wrapped(text, at: 8, with: "\n")))
      all.append((order + "wrapped base64 in JSON", wrapped(text, at: 8, with: "\\n")))
      all.append((order + "base64 in words", wrapped(text, at: 4, with: "-")))
      all.append((order + "base64 in a URL", text.replacing("+", with: "%2B").replacing("/", with: "%2f")))
      all.append((order + "base64 in JSON", text.replacing("/", with: "\\/").replacing("+", with: "\\u002b")))
    }
    all.append((order + "characters", String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))))
    all.append(
      (
        order + "debugged characters",
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).debugDescription
      ))
    all.append(
      (
        order + "escapes of JSON",
        bytes.map { $0 < 0x7F && $0 >= 0x20 && $0 != 0x5C ? String(Unicode.Scalar($0)) : "\\u00" + hex([$0]) }
          .joined()
      ))
    all.append(
      (
        order + "octal",
        bytes.map { "\\" + String(repeating: "0", count: $0 < 64 ? 1 : 0) + String($0, radix: 8) }.joined()
      ))
    all.append((order + "entities", bytes.map { "&#\($0);" }.joined()))
    all.append(
      (
        order + "a UUID",
        "\(hex(Array(bytes[..<4])))-\(hex(Array(bytes[4..<6])))-\(hex(Array(bytes[6..<8])))-\(hex(Array(bytes[8...])))"
      ))
  }
  return all
}

@Suite("A redactor")
struct RedactorTests {
  private let redactor = Redactor()

  init() throws {
    try redactor.register(Secret(key))
    try redactor.register(Secret(text: password))
  }

  /// Whether a key has become one mark, and no more than so much of what stood around it and of its ends is left.
  private func isClean(_ text: String, of original: String, atMost rest: Int) -> Bool {
    let parts = text.split(separator: Redactor.mark, omittingEmptySubsequences: false)
    return parts.count == 2 && parts[0].utf8.count + parts[1].utf8.count <= rest
      && original.utf8.starts(with: parts[0].utf8) && original.hasSuffix(parts[1])
  }

  @Test("a key is found in every form, between other text, and nothing of the text is lost")
  func forms() {
    for (name, text) in texts {
      for (before, after) in [("the key is \"", "\", or so\n"), ("z", "z")] {
        let whole = before + text + after
        let redacted = redactor.redacted(whole)
        #expect(redacted.hasPrefix(before) && redacted.hasSuffix(after), "\(name): \(redacted)")
        // The brackets of a list, and what other bytes make of their base64.
        #expect(
          isClean(redacted, of: whole, atMost: before.count + after.count + 8),
          "\(name): \(text): \(redacted)")
      }
    }
    for bytes in [key, key.reversed()] {
      expect(redactor.redacted([1, 2] + bytes + [3]), [1, 2] + Array(Redactor.mark.utf8) + [3])
      expect(redactor.masked([1, 2] + bytes + [3]), [1, 2] + [UInt8](repeating: 0x2A, count: 16) + [3])
    }
  }

  @Test("a password is found as it is and as formats write it")
  func passwords() {
    for text in [
      password, "p%40ss%2Fw%22%C3%B6rd%267%20%5Cx",
      "p@ss/w\\\"\\u00f6rd&7 \\\\x",
      "p@ss/w&quot;&#246;rd&amp;7 \\x", base64(Array(password.utf8)), hex(Array(password.utf8)),
    ] {
      let redacted = redactor.redacted("postgres://user:\(text)@host/base")
      #expect(redacted.hasPrefix("postgres://user:‹redacted›"), "\(redacted)")
      #expect(redacted.hasSuffix("@host/base"), "\(redacted)")
    }
  }

  @Test("half a key is found too")
  func halves() {
    for part in [key.prefix(8), key.suffix(8), key[3..<12]] {
      expect(redactor.redacted("<" + hex(Array(part)) + ">"), "<‹redacted›>")
    }
  }

  @Test("a text that comes in pieces comes out clean, wherever it is cut", arguments: [false, true])
  func pieces(isLive: Bool) {
    func check(_ name: String, _ text: String, _ cut: (Int) -> [ArraySlice<UInt8>]) {
      let whole = "k: \(text) end"
      var stream = RedactingStream(redactor, isLive: isLive)
      let pieces = cut(whole.utf8.count)
      let result = pieces.flatMap { stream.next(Array($0)) } + stream.finish()
      let words = String(decoding: result, as: UTF8.self)
      let rest = text.utf8.count * (isLive ? 3 : 1) / 16 + 8
      #expect(isClean(words, of: whole, atMost: 7 + rest), "\(name) in \(pieces.count): \(words)")
    }
    for (name, text) in texts where !name.contains("reversed") {
      let bytes = Array("k: \(text) end".utf8)
      for cut in stride(from: 4, to: bytes.count, by: 9) {
        check(name, text) { _ in [bytes[..<cut], bytes[cut...]] }
      }
    }
    for text in [hex(key), hex(key, "0x", between: ", "), base64(key)] {
      let bytes = Array("k: \(text) end".utf8)
      check("bytes", text) { count in (0..<count).map { bytes[$0...$0] } }
    }
  }

  @Test("what is no secret passes unchanged and at once")
  func ordinary() {
    let texts = [
      "", "0123456789abcdef0123456789abcdef", "4a7e", "5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10 ‹x›\n",
      String(repeating: "0", count: 200),
      "{\"t\":\"1.500\",\"bytes\":\"\(String(repeating: "4a", count: 40))\"}",
    ]
    var stream = RedactingStream(redactor, isLive: true)
    for text in texts {
      expect(redactor.redacted(text), text)
      expect(String(decoding: stream.next(Array(text.utf8)), as: UTF8.self), text)
    }
    let nobody = Redactor()
    #expect(!nobody.isActive)
    expect(nobody.redacted(hex(key)), hex(key))
    expect(nobody.masked(key), key)
  }

  @Test("what cannot be told from ordinary text is refused, with the reason")
  func refused() {
    let redactor = Redactor()
    #expect(throws: RedactionRefusal.tooShort(7)) { try redactor.register(Secret(text: "secret7")) }
    #expect(throws: RedactionRefusal.tooPlain) {
      try redactor.register(Secret([UInt8](repeating: 0, count: 16)))
    }
    expect(
      RedactionRefusal.tooShort(7).description,
      "a secret of 7 bytes is too short to be told from ordinary text: it needs 8")
    #expect(!redactor.isActive)
    // A guest's key begins with zeros.
    #expect(throws: Never.self) {
      try redactor.register(Secret([UInt8](repeating: 0, count: 8) + key.prefix(8)))
    }
    expect(redactor.redacted("00000000000000000000"), "00000000000000000000")
    expect(redactor.redacted("\(redactor)"), "<redactor>")
    var dumped = ""
    dump(redactor, to: &dumped)
    #expect(dumped.count < 40, "\(dumped)")
  }

  // swift-format-ignore
  static let words: [(word: String, passwords: [String])] = [
    ("postgres://lab:pw@host/base", ["pw"]),
    ("--history=postgresql://lab:p%40ss%2Fword@host:5432/base?x=y", ["p%40ss%2Fword", "p@ss/word"]),
    ("postgres://lab:a/b@c@host/base", ["a/b@c"]),
    ("postgres://lab@host/base?password=abc&x=y", ["abc"]),
    ("host=db password=hunter2 user=lab", ["hunter2"]),
    ("postgres://host:5432/base", []),
    ("https://host:8080/@here", []),
    ("lock:lock.yaml", []),
  ]

  @Test("passwords are known by where they stand", arguments: words.indices)
  func typed(index: Int) {
    expect(Passwords.secrets(in: Self.words[index].word).map(\.revealed), Self.words[index].passwords)
  }

  @Test("what looks like a key in a text that speaks of keys is taken for one")
  func lookalikes() {
    let file =
      "lock: sesame5\nuuid: 5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10\nsecret: \(hex(key))\nname: FrontDoorOfTheLab\n"
    let found = Lookalikes.secrets(in: Array(file.utf8))
    expect(found.count, 2)
    #expect(found[0].revealed == hex(key) && found[1].matches(Secret(key)))
    expect(Lookalikes.secrets(in: Array("lock:ssm://UI?t=sk&sk=\(base64(key + key))&l=0".utf8)).count, 1)
    expect(Lookalikes.secrets(in: Array("machine: \(hex(key))".utf8)).count, 0)
  }
}
