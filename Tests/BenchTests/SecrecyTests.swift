@testable import LockFiles
@testable import Bench
import System
import Bluetooth
import Conformance
import Glibc
import Sesame
import Basics
import TestSupport
import Testing

@testable import Transports

private let uuid = "5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10"
/// A key that no other test has.
private let digits = "93c1d7f0582ea46b1d8e07f4c95ab263"

@Suite("What is owed to keys", .serialized)
struct SecrecyTests {
  private let folder = TestFolder()

  private func read(_ text: String) throws -> SesameLockFile {
    try LockFile(reading: folder.write("lock.yaml", text)).sesame(or: "none here")
  }

  @Test("a key may stand in an environment variable, and what is wrong with it is said without it")
  func variables() throws {
    let key = try SecretKey(bytes: [UInt8](hex: digits))
    let url = ShareKey(
      model: .sesame5, secret: key, credential: .os3(Token(word: 7)), deviceID: try UUID128(text: uuid)
    ).url
    for (name, value) in [("KEY_HEX", digits), ("KEY_URL", url), ("KEY_BAD", digits + "0")] {
      unsafe setenv(name, value, 1)
    }
    let head = "lock: sesame5\nuuid: \(uuid)\n"
    for line in ["key: env:KEY_HEX", "key: env:KEY_URL", "secret: env:KEY_HEX"] {
      expect(try read(head + line + "\n").key?.secret, key)
    }
    for (line, message) in [
      ("key: env:KEY_GONE", "this environment variable is not set, or empty"),
      ("key: env:\(digits)", "this environment variable is not set, or empty"),
      ("key: env:KEY_BAD", "expected the secret as 32 hexadecimal digits"),
      ("secret: env:KEY_URL", "expected the secret as 32 hexadecimal digits"),
    ] {
      do {
        _ = try read(head + line + "\n")
        Issue.record("it was read: \(line)")
      } catch {
        #expect("\(error)".contains(message), "\(error)")
        #expect(!"\(error)".contains(digits.prefix(13)), "\(error)")
      }
    }
    // A program that is a device has no use for it.
    expect(Secrecy.withheldVariables.contains("KEY_HEX"), true)
    let child = try ChildProcess(command: "env")
    var lines: [String] = []
    while case .line(let line) = child.nextLine(until: MonotonicClock.now + .seconds(5)) {
      lines.append(String(decoding: line, as: UTF8.self))
    }
    #expect(lines.contains { $0.hasPrefix("PATH=") } && !lines.contains { $0.hasPrefix("KEY_") }, "\(lines)")
  }

  @Test("what is written holds no key that was read, and is for its owner alone, whatever the mask")
  func files() throws {
    let mask = umask(0)
    defer { umask(mask) }
    let lock = try read("lock: sesame5\nuuid: \(uuid)\nsecret: \(digits)\n")
    let path = folder.path + "/journal.jsonl"
    do {
      let file = try OutputFile(creating: path)
      try file.write("{\"seen\":\"\(digits.uppercased())\"}\n")
      // In two pieces, of which neither has much of it.
      try file.write("one \(digits.prefix(14))")
      try file.write("\(digits.dropFirst(14)) two\n")
      try file.write("the last \(digits.prefix(10))")
    }
    expect(
      folder.read("journal.jsonl"),
      "{\"seen\":\"‹redacted›\"}\none ‹redacted› two\nthe last \(digits.prefix(10))")
    expect(folder.mode("journal.jsonl"), 0o600)
    try WholeFile.replace(folder.path + "/manifest.json", with: "[\"\(digits)\"]\n")
    expect(folder.read("manifest.json"), "[\"‹redacted›\"]\n")
    expect(folder.mode("manifest.json"), 0o600)
    try lock.save()
    expect(folder.mode("lock.yaml"), 0o600)
    #expect(folder.read("lock.yaml").contains(digits))
  }

  @Test("no core is dumped, and nobody looks into the process")
  func dumps() {
    Secrecy.begin()
    var limit = rlimit()
    _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    expect(limit.rlim_cur, 0)
  }
}
