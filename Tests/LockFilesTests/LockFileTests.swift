@testable import LockFiles
import Bluetooth
import Conformance
import Sesame
import Basics
import TestSupport
import Testing

private let uuid = UUID128(high: 0x5C2A_2F49_3B0E_4B7A, low: 0x9F51_0D1F_4D6C_7E10)
private let secret = "0123456789abcdef0123456789abcdef"

private func key(_ secret: String = secret) -> LockKey {
  guard let key = try? SecretKey(bytes: [UInt8](hex: secret)) else { preconditionFailure("no key") }
  return LockKey(deviceID: uuid, secret: key)
}

private let share = ShareKey(
  model: .sesame5, secret: key().secret, credential: .os3(Token(word: 7)), deviceID: uuid, name: "Front door")

/// A secret as it stands in a guest's key, by the rule of the vendor's app.
private let guestSecret = "00000000000000000123456789abcdef"

/// The share key, changed.
private func url(_ change: (inout ShareKey) -> Void) -> String {
  var key = share
  change(&key)
  return key.url
}

private var pair: PrivateKey {
  var source = SeededGenerator(seed: 1)
  return PrivateKey(from: &source)
}

@Suite("A lock file")
struct LockFileTests {
  private let folder = TestFolder()

  private func read(_ text: String) throws -> SesameLockFile {
    try sesame(folder.write("lock.yaml", text))
  }

  private func sesame(_ path: String) throws -> SesameLockFile {
    try LockFile(reading: path).sesame(or: "none here")
  }

  private func problem(_ text: String) -> String {
    do {
      _ = try read(text)
      return "none"
    } catch {
      return "\(error)".replacing(folder.path + "/", with: "")
    }
  }

  @Test("how long the motor rests between movements, where its owner says so")
  func gap() throws {
    func gap(_ line: String) throws -> Interval? {
      try LockFile(reading: folder.write("gap.yaml", "lock: sesame5\nuuid: \(uuid)\n\(line)\n")).gap
    }
    expect(try gap(""), nil)
    expect(try gap("gap: 0 s"), .zero)
    expect(try gap("gap: 3 s"), .seconds(3))
    #expect(problem("lock: sesame5\nuuid: \(uuid)\ngap: 2\n").contains("a unit is missing: `2 s`"))
    #expect(problem("lock: sesame5\nuuid: \(uuid)\ngap: often\n").contains("a duration such as 3 s"))
  }

  @Test("a share key, a secret, or neither")
  func keys() throws {
    let shared = try read("lock: sesame5\nkey: \(share.url)\naddress: c7:e6:da:90:f5:f9\n")
    expect(shared.key, key())
    expect(shared.lock.deviceID, uuid)
    expect(shared.address, PeerAddress(.randomDevice, try BluetoothAddress(text: "c7:e6:da:90:f5:f9")))
    let plain = try read(
      "lock: sesame5pro\nuuid: \(uuid)\nsecret: \(secret)\nname: Lab 3\ntimeouts: { connecting: 20 s }\n")
    expect(plain.key, key())
    expect(plain.lock.model, .sesame5Pro)
    expect(plain.name, "Lab 3")
    expect(plain.lock.times.connecting, .seconds(20))
    let old = try read(
      "lock: sesame3\nuuid: \(uuid)\nsecret: \(secret)\npublic-key: \(pair.publicKey.bytes.hex)\nindex: 2\n")
    expect(old.key?.lockPublicKey, pair.publicKey)
    expect(old.key?.index, 2)
    let bare = try read("lock: sesame4\naddress: c7:e6:da:90:f5:f9/P\n")
    expect(bare.key, nil)
    expect(bare.address?.kind, .publicDevice)
  }

  // swift-format-ignore
  static let problems: [(text: String, message: String)] = [
    ("lock: sesame55\nuuid: \(uuid)\n", "lock.yaml:1:7: unknown lock `sesame55`\n  1 | lock: sesame55\n    |       ^~~~~~~~ did you mean `sesame5`?"),
    ("lock: sesame5\nuiid: \(uuid)\n", "lock.yaml:2:1: unknown key `uiid`"),
    ("lock: sesame5\n", "which lock is it?"),
    ("lock: sesame5\nsecret: \(secret)\n", "give the lock's `uuid` too"),
    ("lock: sesame5\nuuid: \(uuid)\nsecret: \(secret)0\n", "expected the secret as 32 hexadecimal digits"),
    ("lock: sesame5\nuuid: \(uuid)\nsecret: 01 23 45 67 89 ab cd ef\n", "expected the secret as 32 hexadecimal digits"),
    ("lock: sesame3\nuuid: \(uuid)\nsecret: \(secret)\n", "missing key `public-key`"),
    ("lock: sesame3\nkey: \(share.url)\n", "this is the key of a Sesame 5, and the lock is a Sesame 3"),
    ("lock: sesame5\nkey: \(url { $0.model = .touch })\n", "this is the key of a Touch, and the lock is a Sesame 5"),
    ("lock: sesame5\nkey: \(url { $0.model = .bot2 })\n", "this is the key of a Bot 2, and the lock is a Sesame 5"),
    ("lock: sesame5\nkey: \(url { $0.level = .guest })\n", "this is the key of a guest"),
    ("lock: sesame5\nkey: \(url { $0.secret = key(guestSecret).secret })\n", "this is the key of a guest"),
    ("lock: sesame5\nuuid: \(uuid)\nsecret: \(guestSecret)\n", "this is the secret of a guest's key"),
    ("lock: sesame5\nkey: \(share.url.replacing("&l=", with: "A&l="))\n", "this is no share key"),
    ("lock: sesame5\nuuid: 00000000-0000-0000-0000-000000000000\nkey: \(share.url)\n", "this is the key of another lock"),
    ("lock: sesame5\nkey: \(share.url)\nsecret: \(secret)\n", "`secret` repeats what `key` says"),
    ("lock: sesame5\nuuid: \(uuid)\nsceret: \(secret)\n", "did you mean `secret`?"),
    ("{ lock: sesame5, uuid: \(uuid), sceret: \(secret) }\n", "did you mean `secret`?"),
    ("lock: sesame5\nuuid: \(uuid)\n\(secret)\n", "lock.yaml:"),
    ("lock: sesame5\nuuid: \(secret)00\n", "expected a UUID"),
    ("lock: sesame5\nuuid: \(uuid)\ntimeouts: { conecting: 3 s }\n", "did you mean `connecting`?"),
    ("lock: sesame5\nuuid: \(uuid)\ntimeouts: { connecting: 3 h }\n", "expected a duration such as 20 s"),
    ("lock: sesame5\nuuid: \(uuid)\nquirks: [clear-texts]\n", "lock.yaml:3:10: unknown violation `clear-texts`\n  3 | quirks: [clear-texts]\n    |          ^~~~~~~~~~~ did you mean `clear-text`?"),
    ("lock: sesame5\nuuid: \(uuid)\nquirks: no-answer\n", "expected a list"),
  ]

  @Test("what is wrong is said with its place, and never with the key", arguments: problems.indices)
  func told(index: Int) {
    let (text, message) = Self.problems[index]
    let said = problem(text)
    #expect(said.contains(message), "\(said)")
    for part in [
      secret, String(secret.prefix(13)), "01 23 45 67", String(share.url.dropFirst(20).prefix(13)),
    ] {
      #expect(!said.contains(part), "\(said)")
    }
  }

  @Test("what others can read is refused, with the line to paste", arguments: [0o644, 0o640, 0o660, 0o604])
  func mode(mode: Int) throws {
    let path = folder.write("a lock.yaml", "lock: sesame5\n", mode: mode)
    do {
      _ = try LockFile(reading: path)
      Issue.record("it was read")
    } catch {
      #expect(
        error.description.contains("(mode 0\(String(mode, radix: 8))): chmod 600 '\(path)'"), "\(error)")
    }
  }

  @Test("a new key is kept beside the old one, and a forgotten one is put aside")
  func keeping() throws {
    let rest = "timeouts: { answer: 7 s }\nquirks: [no-token, replayed]\n"
    var file = try read("# mine\nlock: sesame5\nuuid: \(uuid)\nname: Lab 3\n\(rest)")
    expect(file.lock.quirks, [.noToken, .replayed])
    try file.keep(key())
    expect(folder.names, ["lock.yaml"])
    expect(folder.mode("lock.yaml"), 0o600)
    let first = folder.read("lock.yaml")
    expect(
      first,
      "lock: sesame5\nname: Lab 3\nuuid: \(uuid)\nsecret: \"\(secret)\"\n\(rest)")
    expect(try sesame(file.path).key, key())
    let other = key(String(secret.reversed()))
    try file.keep(other)
    expect(folder.names, ["lock.yaml", "lock.yaml.old-1"])
    expect(folder.read("lock.yaml.old-1"), first)
    expect(try sesame(file.path).key, other)
    try file.drop()
    expect(folder.names, ["lock.yaml", "lock.yaml.forgotten-1", "lock.yaml.old-1"])
    expect(try sesame(file.path + ".forgotten-1").key, other)
    expect(try sesame(file.path).key, nil)
    try file.drop()
    try file.keep(key())
    try file.drop()
    expect(folder.names.filter { $0.contains("forgotten") }.count, 2)
  }

  @Test("a file that cannot be read is not lost to one that is written in its place")
  func unreadable() throws {
    let path = folder.write("lock.yaml", "no lock file\n", mode: 0o644)
    try SesameLockFile(path: path, lock: SesameLock(model: .sesame5, key: key())).save()
    expect(folder.read("lock.yaml.old-1"), "no lock file\n")
    expect(folder.mode("lock.yaml"), 0o600)
  }

  @Test("where the folder takes no key, it goes to another place, and that is said")
  func fallbackFolder() throws {
    var file = SesameLockFile(path: folder.path + "/gone/lock.yaml", lock: SesameLock(model: .sesame5))
    #expect(throws: LabFault.self) { try file.verifyStorage() }
    do {
      file.fallbackFolder = { [path = folder.path] in path }
      try file.keep(key())
      Issue.record("there is no such folder")
    } catch {
      let copy = "\(folder.path)/\(uuid).yaml"
      #expect(error.detail.hasSuffix("it is in \(copy)"), "\(error)")
      expect(try sesame(copy).key, key())
    }
  }

  @Test("a key that a killed run could not put in its place is not passed over")
  func leftovers() throws {
    let file = try read("lock: sesame5\nuuid: \(uuid)\n")
    folder.write("lock.yaml.new-1", "lock: sesame5\n")
    expect(file.leftovers, [file.path + ".new-1"])
    try file.save()
    expect(folder.names, ["lock.yaml", "lock.yaml.new-1"])
  }
}
