import Bluetooth
import Conformance
import Emulator
import Sesame
import Basics
import TestSupport
import Testing

/// What an option changes: a lock, what is done with it, and what it does under each of some values.
struct LockOptionEffect: Sendable, CustomTestStringConvertible {
  var option: String
  var model = ProductModel.sesame5
  var registered = true
  var script: @Sendable (inout LockProbe) -> [String]
  /// The usual value first.
  var traces: [(value: String, trace: [String])]

  var testDescription: String { "\(option) on \(model)" }
}
extension LockProbe {
  fileprivate mutating func opened() -> Self {
    open()
    return self
  }
}

private let registration = ["clear token", "clear identity: success +32"]
private let setting = "setting lock at 0.0°, unlock at 90.0°"

let lockOptionEffects: [LockOptionEffect] =
  mechanics + connection + opening
  + [
    LockOptionEffect(
      option: "receiver",
      script: { probe in
        _ = probe.connect()
        // A last frame that goes on with nothing: whoever takes it for a message reads a false login.
        return probe.send(frames: [[0x03, 0xEE], [0x02, 0x02, 1, 2, 3, 4]])
      },
      traces: [
        ("libsesame3bt", []), ("ios", ["disconnect 0x13"]), ("android", ["disconnect 0x13"]),
        ("esp32", ["disconnect 0x13"]), ("gomalock", []),
      ]),
    LockOptionEffect(
      option: "receiver", script: { $0.connect() + $0.send(frames: [[]]) + $0.pass(.seconds(2)) },
      traces: [
        ("libsesame3bt", ["clear token"]), ("android", ["clear token", "disconnect 0x13"]),
        ("esp32", ["clear token", "disconnect 0x13"]),
      ]),
    LockOptionEffect(
      option: "failed-message",
      script: { probe in
        probe.open()
        _ = probe.send(frames: [[0x05, 1, 2, 3, 4, 5, 6]])
        return probe.send(.lock(.absent))
      }, traces: [("keeps-counter", ["lock: success", "status locked"]), ("advances-counter", [])]),
    LockOptionEffect(
      option: "failed-message",
      script: { probe in
        probe.open()
        _ = probe.send(frames: [[0x04, 1, 2, 3, 4, 5, 6]])
        return probe.send(.lock(.absent))
      }, traces: [("keeps-counter", ["lock: success", "status locked"]), ("advances-counter", [])]),
    LockOptionEffect(
      option: "plaintext",
      script: { probe in
        probe.open()
        return probe.send(.lock(.absent), inClear: true)
      }, traces: [("ignored", []), ("disconnect", ["disconnect 0x13"])]),
    LockOptionEffect(
      option: "bad-request",
      script: { probe in
        probe.open()
        return probe.send(bytes: [0x52, 5])
      }, traces: [("answered", ["lock: invalid format"]), ("disconnect", ["disconnect 0x13"])]),
    LockOptionEffect(
      option: "autolock-start",
      script: { probe in
        probe.open()
        _ = probe.send(.unlock(.absent)) + probe.pass(.seconds(2))
        return probe.send(.setAutolock(seconds: 5)) + probe.pass(.seconds(10))
      },
      traces: [
        ("at-once", ["autolock: success", "status moved moving", "status locked moving", "status locked"]),
        ("next-unlocking", ["autolock: success"]),
      ]),
    LockOptionEffect(
      option: "answer-order",
      script: { probe in
        probe.open()
        return probe.send(.lock(.absent))
          + probe.send(.setMechSetting(Sesame5Setting(lock: 0, unlock: 60).positions))
      },
      traces: [
        (
          "first",
          [
            "lock: success", "status locked", "mech setting: success",
            "setting lock at 0.0°, unlock at 60.0°", "status locked",
          ]
        ),
        (
          "last",
          [
            "status locked", "lock: success", "setting lock at 0.0°, unlock at 60.0°", "status locked",
            "mech setting: success",
          ]
        ),
      ]),
    LockOptionEffect(
      option: "history-byte", model: .sesame3,
      script: { probe in
        probe.open()
        _ = probe.send(.lock(.absent))
        return probe.send(.readHistory(1)) + probe.send(.readHistory(0))
      },
      traces: [
        ("documented", ["history: success +32", "history: not found"]),
        ("inverted", ["history: success +32", "history: success +32"]),
      ]),
    LockOptionEffect(
      option: "history-byte",
      script: { probe in
        probe.open()
        _ = probe.send(.lock(.absent))
        return probe.send(.readHistory(1)) + probe.send(.readHistory(0))
      },
      traces: [
        ("documented", ["history: success +16", "history: success +16"]),
        ("inverted", ["history: success +16", "history: not found"]),
      ]),
    LockOptionEffect(
      option: "positions",
      script: { probe in
        probe.open()
        _ = probe.send(.reset)
        return ["\(probe.lock.isConfigured)"]
      }, traces: [("forgotten", ["false"]), ("kept", ["true"])]),
    LockOptionEffect(
      option: "empty-tag",
      script: { probe in
        probe.open()
        return probe.send(bytes: [0x52])
      }, traces: [("accepted", ["lock: success", "status locked"]), ("refused", ["disconnect 0x13"])]),
    LockOptionEffect(
      option: "status-read",
      script: { probe in
        probe.open()
        return probe.send(.readMechStatus)
      }, traces: [("silent", []), ("answered", ["mech status: success +7"])]),
    LockOptionEffect(
      option: "version-text",
      script: { probe in
        probe.open()
        return probe.send(.readVersion)
      }, traces: [("text", ["version: success +12"]), ("detailed", ["version: success +36"])]),
    LockOptionEffect(
      option: "status-bits", model: .sesame3,
      script: { probe in
        probe.open()
        let actions = probe.lock.turnByHand(to: .unlocked, at: probe.now)
        guard case .notify(let frame)? = actions.first,
          let bytes = try? probe.cipher?.decrypt([UInt8](frame.dropFirst()))
        else { return ["nothing"] }
        return [[bytes.last ?? 0].hex]
      }, traces: [("none", ["04"]), ("bit4", ["14"]), ("bits-4-7", ["94"])]),
  ]

private let mechanics = [
  LockOptionEffect(
    option: "motor",
    script: { probe in
      probe.open()
      _ = probe.send(.unlock(.absent))
      return probe.pass(.milliseconds(300))
    }, traces: [("1 s", []), ("300 ms", ["status unlocked moving", "status unlocked"])]),
  LockOptionEffect(
    option: "patience",
    script: { probe in
      probe.open()
      _ = probe.jam(true)
      _ = probe.send(.unlock(.absent))
      return probe.pass(.seconds(1))
    }, traces: [("3 s", []), ("500 ms", ["status moved failed"])]),
  LockOptionEffect(
    option: "while-moving",
    script: { probe in
      probe.open()
      _ = probe.send(.unlock(.absent))
      _ = probe.pass(.milliseconds(500))
      return probe.send(.lock(.absent))
    }, traces: [("turn", ["lock: success", "status moved moving"]), ("busy", ["lock: busy"])]),
  LockOptionEffect(
    option: "battery",
    script: { probe in
      probe.open()
      return probe.turn(to: .unlocked)
    }, traces: [("6.0", ["status unlocked"]), ("4.9", ["status unlocked low"])]),
  LockOptionEffect(
    option: "sag",
    script: { probe in
      probe.open()
      _ = probe.send(.unlock(.absent))
      return ["\(probe.lock.volts)"]
    }, traces: [("0.0001", ["5.9999"]), ("0.5", ["5.5"])]),
  LockOptionEffect(
    option: "epoch", script: { [$0.clock()] },
    traces: [("1700000000", ["1700000000"]), ("0", ["0"]), ("4294967295", ["4294967295"])]),
  LockOptionEffect(
    option: "drift",
    script: { probe in
      _ = probe.pass(.seconds(10_000))
      return [probe.clock()]
    }, traces: [("0", ["1700010000"]), ("100000", ["1700011000"]), ("-100000", ["1700009000"])]),
  LockOptionEffect(
    option: "powerless-clock",
    script: { probe in
      _ = probe.cyclePower()
      return [probe.clock()]
    }, traces: [("kept", ["1700000000"]), ("lost", ["0"])]),
  LockOptionEffect(
    option: "history-capacity", model: .sesame3,
    script: { probe in
      probe.open()
      for _ in 0..<4 { _ = probe.send(.lock(.absent)) }
      return (0..<4).flatMap { _ in probe.send(.readHistory(1)) }.map { String($0.dropFirst(9).prefix(9)) }
    },
    traces: [
      ("100", ["success +", "success +", "success +", "success +"]),
      ("2", ["success +", "success +", "not found", "not found"]),
    ]),
]

extension LockProbe {
  /// What the lock's clock shows, as a login tells it.
  fileprivate mutating func clock() -> String {
    _ = connect()
    let key = OS3Keys.sessionKey(deviceSecret: owner!, token!)
    var cipher = SessionCipher(key: key, token: .os3(token!), end: .app)
    let frame = Segmenter().frames(of: LockCommand.login(.os3(key.proof)).encoded(for: .os3), .plaintext)[0]
    guard case .notify(let answer)? = lock.receive(frame, at: now).first,
      let bytes = try? cipher.decrypt([UInt8](answer.dropFirst())),
      case .response(let response)? = try? LockMessage(decoding: bytes, for: .os3),
      let time = try? response.time()
    else { return "no answer" }
    return String(time)
  }

  /// Where the identity of an OS2 lock is told.
  fileprivate func name() -> [String] {
    let data = lock.advertisingData!
    return [data.advertisement.localName == nil ? "no name" : "name"]
      + [data.scanResponse.localName == nil ? "no name" : "name"]
      + ["\(data.advertisement.encoded.count) bytes"]
  }
}

private let connection = [
  LockOptionEffect(
    option: "advertising", script: { ["\($0.lock.options.advertising)"] },
    traces: [("500 ms", ["500 ms"]), ("1 s", ["1 s"])]),
  LockOptionEffect(
    option: "name", model: .sesame4, script: { $0.name() },
    traces: [
      ("scan-response", ["no name", "name", "14 bytes"]), ("advertisement", ["name", "no name", "31 bytes"]),
      ("absent", ["no name", "no name", "14 bytes"]),
    ]),
  LockOptionEffect(
    option: "initial", script: { $0.connect() },
    traces: [("once", ["clear token"]), ("twice", ["clear token", "clear token"])]),
  LockOptionEffect(
    option: "early-ciphertext",
    script: { probe in
      let first = probe.connect() + probe.login()
      return first.prefix(2) + probe.disconnect() + probe.connect()
    },
    traces: [
      ("no", ["clear token", "login: success", "clear token"]),
      ("yes", ["undecipherable", "clear token", "undecipherable", "clear token"]),
    ]),
  LockOptionEffect(
    option: "leftover-frame", script: { $0.connect() },
    traces: [("no", ["clear token"]), ("yes", ["undecipherable", "clear token"])]),
  LockOptionEffect(
    option: "login-timeout", script: { $0.connect() + $0.pass(.seconds(20)) },
    traces: [("10 s", ["clear token", "disconnect 0x13"]), ("0 s", ["clear token"])]),
  LockOptionEffect(
    option: "end-reason", script: { $0.connect() + $0.login(secret: .wrong) },
    traces: [
      ("0x13", ["clear token", "disconnect 0x13"]), ("0x14", ["clear token", "disconnect 0x14"]),
      ("0x15", ["clear token", "disconnect 0x15"]),
    ]),
  LockOptionEffect(
    option: "restart",
    script: { probe in
      probe.open()
      _ = probe.send(.reset) + probe.disconnect()
      let before = probe.lock.advertisement == nil
      _ = probe.pass(.seconds(1))
      return ["\(before)", "\(probe.lock.advertisement == nil)"]
    }, traces: [("1 s", ["true", "false"]), ("2 s", ["true", "true"])]),
  LockOptionEffect(
    option: "gatt", script: { AirPeripheralProbe.properties(of: $0.lock.options.gatt) },
    traces: [
      ("documented", ["0c", "10", "refused", "possible"]),
      ("readable", ["0c", "12", "possible", "possible"]),
      ("command-only", ["04", "10", "refused", "refused"]),
    ]),
]

private let opening = [
  LockOptionEffect(
    option: "er-length", model: .sesame3, registered: false,
    script: { $0.connect() + $0.register() },
    traces: [
      ("16", registration + ["clear registration: success", "login publish"]),
      ("32", ["clear token", "clear identity: success +48", "clear registration: success", "login publish"]),
    ]),
  LockOptionEffect(
    option: "signature", model: .sesame3, registered: false,
    script: { $0.connect() + $0.register(signature: [1, 2, 3, 4]) },
    traces: [
      ("checked", registration + ["clear registration: invalid signature"]),
      ("unchecked", registration + ["clear registration: success", "login publish"]),
    ]),
  LockOptionEffect(
    option: "registration-answer", model: .sesame3, registered: false,
    script: { $0.connect() + $0.register() },
    traces: [
      ("clear", registration + ["clear registration: success", "login publish"]),
      ("encrypted", registration + ["registration: success", "login publish"]),
    ]),
  LockOptionEffect(
    option: "login-publish", model: .sesame3, registered: false,
    script: { $0.connect() + $0.register() },
    traces: [
      ("after", registration + ["clear registration: success", "login publish"]),
      ("before", registration + ["login publish", "clear registration: success"]),
    ]),
  LockOptionEffect(
    option: "already-registered", script: { $0.connect() + $0.send(.register(.os3Sample), inClear: true) },
    traces: [
      ("result", ["clear token", "clear registration: invalid action"]),
      ("four-bytes", ["clear token", "clear registration: invalid action +4"]),
      ("disconnect", ["clear token", "disconnect 0x13"]),
    ]),
  LockOptionEffect(
    option: "owned-identity", model: .sesame3,
    script: { $0.connect() + $0.send(.readIdentity, inClear: true) },
    traces: [("answered", ["clear token", "clear identity: invalid action"]), ("ignored", ["clear token"])]),
  LockOptionEffect(
    option: "login-after-registration", model: .sesame3, registered: false,
    script: { probe in
      let registered = probe.connect() + probe.register()
      let cipher = probe.cipher
      let login = probe.login()
      if login.isEmpty { probe.cipher = cipher }
      return registered + login + probe.send(.setTime(1_700_000_000))
    },
    traces: [
      (
        "answered",
        registration + [
          "clear registration: success", "login publish", "login: success", "time without signature: success",
        ]
      ),
      (
        "ignored",
        registration + ["clear registration: success", "login publish", "time without signature: success"]
      ),
    ]),
  LockOptionEffect(
    option: "short-registration", registered: false, script: { $0.connect() + $0.register(short: true) },
    traces: [
      ("accepted", ["clear token", "clear registration: success +77"]),
      ("refused", ["clear token", "clear registration: invalid format"]),
    ]),
  LockOptionEffect(
    option: "publish-after-registration", registered: false, script: { $0.connect() + $0.register() },
    traces: [
      ("no", ["clear token", "clear registration: success +77"]),
      ("yes", ["clear token", "clear registration: success +77", "setting not configured", "status moved"]),
    ]),
  LockOptionEffect(
    option: "app-time",
    script: { probe in
      probe.open()
      return probe.send(.setTime(0)) + probe.send(.setTime(.max)) + probe.send(.setTime(1_700_000_000))
    },
    traces: [
      ("any", ["time: success", "time: success", "time: success"]),
      ("plausible", ["time: invalid parameter", "time: invalid parameter", "time: success"]),
    ]),
  LockOptionEffect(
    option: "repeated-app-token", model: .sesame3,
    script: { probe in
      let pair = PrivateKey.fixed
      return (0..<2).flatMap { _ in
        let token = probe.connect() == ["clear token"] ? probe.token! : Token(word: 0)
        let payload = OS2Keys.loginPayload(
          keyIndex: 0, publicKey: pair.publicKey, appToken: Token(word: 9), lockToken: token)
        let session = SessionToken.os2(app: Token(word: 9), lock: token)
        let shared = (try? pair.sharedSecret(with: probe.lock.identity.keyPair.publicKey))!
        probe.cipher = SessionCipher(
          key: OS2Keys.loginSessionKey(shared, session), token: session, end: .app)
        return probe.send(
          .login(
            .os2(keyIndex: 0, pair.publicKey, appToken: Token(word: 9), probe.owner!.cmac(payload).proof)),
          inClear: true) + probe.disconnect()
      }
    },
    traces: [
      ("accepted", ["login: success", "login: success"]), ("refused", ["login: success", "disconnect 0x13"]),
    ]),
  LockOptionEffect(
    option: "wrong-login", script: { $0.connect() + $0.login(secret: .wrong) + $0.login().prefix(1) },
    traces: [
      ("disconnect", ["clear token", "disconnect 0x13"]), ("silent", ["clear token", "login: success"]),
      ("result", ["clear token", "clear login: invalid signature", "login: success"]),
    ]),
  LockOptionEffect(
    option: "wrong-login", model: .sesame3,
    script: { $0.connect() + $0.login(secret: .wrong) + $0.login().prefix(1) },
    traces: [
      ("disconnect", ["clear token", "disconnect 0x13"]), ("silent", ["clear token", "login: success"]),
      ("result", ["clear token", "clear login: invalid signature", "login: success"]),
    ]),
  LockOptionEffect(
    option: "login-order", script: { $0.connect() + $0.login() },
    traces: [
      ("setting-first", ["clear token", "login: success", setting, "status locked"]),
      ("status-first", ["clear token", "login: success", "status locked", setting]),
    ]),
  LockOptionEffect(
    option: "login-payload", model: .sesame3, script: { ["\($0.payload().count) bytes"] },
    traces: [("28", ["28 bytes"]), ("30", ["30 bytes"])]),
  LockOptionEffect(
    option: "login-counts", model: .sesame3, script: { [[UInt8]($0.payload()[5..<8]).hex] },
    traces: [("recorded", ["008001"]), ("counted", ["010001"])]),
  LockOptionEffect(
    option: "firmware", model: .sesame3,
    script: { probe in
      let version = [probe.payload()[4]].hex
      _ = probe.disconnect()
      probe.open()
      return [version] + probe.send(.setTime(5)) + probe.send(.readHistory(1))
        + probe.send(.setSignedTime([1, 2, 3, 4]))
    },
    traces: [
      (
        "1",
        [
          "01", "time without signature: success", "history: success +13", "time: not supported",
        ]
      ),
      (
        "0",
        [
          "00", "time without signature: not supported", "history: not supported", "time: invalid signature",
        ]
      ),
    ]),
]

extension LockProbe {
  /// The payload of an OS2 login.
  fileprivate mutating func payload() -> [UInt8] {
    _ = connect()
    let pair = PrivateKey.fixed
    let payload = OS2Keys.loginPayload(
      keyIndex: 0, publicKey: pair.publicKey, appToken: Token(word: 1), lockToken: token!)
    let session = SessionToken.os2(app: Token(word: 1), lock: token!)
    let shared = (try? pair.sharedSecret(with: lock.identity.keyPair.publicKey))!
    var cipher = SessionCipher(key: OS2Keys.loginSessionKey(shared, session), token: session, end: .app)
    let command = LockCommand.login(
      .os2(keyIndex: 0, pair.publicKey, appToken: Token(word: 1), owner!.cmac(payload).proof))
    var reassembler = Reassembler()
    var bytes: [UInt8] = []
    for frame in Segmenter().frames(of: command.encoded(for: .os2), .plaintext) {
      for case .notify(let answer) in lock.receive(frame, at: now) {
        if case .message(let message) = reassembler.receive(answer) { bytes = message.bytes }
      }
    }
    let plain = (try? cipher.decrypt(bytes)) ?? []
    return [UInt8](plain.dropFirst(4))
  }
}

extension PrivateKey {
  fileprivate static let fixed: PrivateKey = {
    var source = SeededGenerator(seed: 11)
    return PrivateKey(from: &source)
  }()
}

extension LockOptions {
  /// Sets options from texts such as `wrong-login=silent`.
  init(_ settings: [String]) throws(LockOptionError) {
    self.init()
    for setting in settings {
      let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      try set(String(parts[0]), to: parts.count == 2 ? String(parts[1]) : "")
    }
  }
}
