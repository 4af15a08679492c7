import Conformance
public import Documents
import Basics

extension Inventory {
  /// The checks that other targets contribute: which transports and emulated devices exist, and what lock files
  /// contain.
  public struct Checks {
    /// Checks a transport; returns what is wrong with it, or `nil`.
    public var transport: (String) -> String?
    /// Checks a device; returns what is wrong with it, or `nil`.
    public var device: (String) -> String?
    /// The stimuli of all families built in that need a permission.
    public var guarded: [String]
    /// Whether a lock file names a driver; only the driver knows which stimuli need a permission.
    public var isDriven: (String) -> Bool

    /// Makes checks; by default every transport and device is valid, nothing needs a permission, and no lock has a driver.
    public init(
      transport: @escaping (String) -> String? = { _ in nil },
      device: @escaping (String) -> String? = { _ in nil },
      guarded: [String] = [], isDriven: @escaping (String) -> Bool = { _ in false }
    ) {
      self.transport = transport
      self.device = device
      self.guarded = guarded
      self.isDriven = isDriven
    }
  }

  /// Reads `bench.yaml`.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - name: its path; relative paths in it start from its folder.
  ///   - checks: checks transports, devices and lock files.
  /// - Throws: all errors of the file, each with its position.
  public init(_ bytes: [UInt8], name: String, checks: Checks = Checks()) throws(DocumentError) {
    self = try Document.read(bytes, name: name) { cursor in
      InventoryReading(cursor, folder: Path.folder(of: name), checks: checks)?.inventory()
    }
  }
}

/// Reads one file.
private struct InventoryReading {
  private typealias Grammar = InventoryGrammar

  private let fields: Fields
  private let folder: String
  private let checks: Inventory.Checks
  /// The names in the file, including those of invalid entries.
  private let names: [String: [String]]

  init?(_ cursor: Cursor, folder: String, checks: Inventory.Checks) {
    guard let fields = cursor.fields(Grammar.bench(guarded: checks.guarded)) else { return nil }
    self.fields = fields
    self.folder = folder
    self.checks = checks
    names = Dictionary(
      uniqueKeysWithValues: ["dongles", "switches", "locks"].map { key in
        let items = fields.optional(key)?.node.members ?? []
        return (key, items.compactMap { item in item.entries?.first { $0.key.text == "name" }?.value.text })
      })
  }

  func inventory() -> Inventory? {
    let name = fields.required("bench")?.benchName()
    let dongles = list("dongles", Grammar.dongle, dongle)
    let switches = list("switches", Grammar.powerSwitch, powerSwitch)
    _ = fields.required("locks")
    let locks = list("locks", Grammar.lock(guarded: checks.guarded), lock)
    let quarantine = list("quarantine", Grammar.quarantine, entry)
    guard let name, let dongles, let switches, let locks, let quarantine else { return nil }
    return Inventory(
      name: name, dongles: dongles, switches: switches, locks: locks, quarantine: quarantine)
  }

  /// Reads every entry, so that all errors are reported together; a missing list is empty.
  private func list<Value>(_ key: String, _ table: [Form.Field], _ read: (Fields) -> Value?) -> [Value]? {
    guard let cursor = fields.optional(key) else { return [] }
    guard let items = cursor.list() else { return nil }
    var seen = Seen()
    return items.all { item in
      guard let fields = item.fields(table) else { return nil }
      var isNew = true
      for name in ["name", "file", "transport", "path"] where table.contains(where: { $0.name == name }) {
        isNew = seen.isNew(fields, name) && isNew
      }
      let value = read(fields)
      return isNew ? value : nil
    }
  }

  private func dongle(_ fields: Fields) -> Inventory.Dongle? {
    let name = fields.required("name")?.benchName()
    var others = OptionalFields(fields)
    let power = others.read("power") { $0.name("switch", of: names["switches"] ?? []) }
    let transport = fields.obey(Grammar.dongleRules) ? transport(fields) : nil
    guard let name, let transport, others.isValid else { return nil }
    return Inventory.Dongle(name: name, transport: transport, power: power)
  }

  private func transport(_ fields: Fields) -> String? {
    if let path = fields.optional("path") {
      return path.value("bus and ports such as 1-2.3") { isBusPath($0) ? "usb:" + $0 : nil }
    }
    guard let place = fields.optional("transport"), let text = place.text("a transport such as usb:0A12:0001")
    else { return nil }
    var transport = text
    if let serial = fields.optional("serial") {
      guard let number = serial.text("a serial number") else { return nil }
      guard text.hasPrefix("usb:"), text.split(separator: ":").count == 3,
        !text.contains(where: { "/#".contains($0) })
      else {
        serial.report("`serial` goes with a transport usb:VENDOR:PRODUCT, such as usb:0A12:0001")
        return nil
      }
      transport += "/" + number
    }
    guard let problem = checks.transport(transport) else { return placed(transport) }
    place.report(problem)
    return nil
  }

  /// A transport whose path is relative to the bench's folder, made relative to the working directory.
  private func placed(_ transport: String) -> String {
    for kind in ["unix-client:", "serial:"] where transport.hasPrefix(kind) {
      let path = String(transport.dropFirst(kind.count))
      // An abstract socket has no folder.
      return path.hasPrefix("/") || path.hasPrefix("@") ? transport : kind + Path.join(folder, path)
    }
    return transport
  }

  private func powerSwitch(_ fields: Fields) -> Inventory.PowerSwitch? {
    let name = fields.required("name")?.benchName()
    let off = fields.required("off")?.wording("a command")
    let on = fields.required("on")?.wording("a command")
    var others = OptionalFields(fields)
    let check = others.read("check") { $0.wording("a command") }
    let settle = others.read("settle") { $0.duration() }
    guard let name, let off, let on, others.isValid else { return nil }
    return Inventory.PowerSwitch(
      name: name, off: off, on: on, check: check, settle: settle ?? .seconds(3),
      folder: folder == "." ? nil : folder)
  }

  private func lock(_ fields: Fields) -> Inventory.Lock? {
    let name = fields.required("name")?.benchName()
    let source = fields.obey(Grammar.lockRules) ? source(fields) : nil
    var others = OptionalFields(fields)
    let control = others.read("control") { $0.value("unix:PATH") { socket($0) } }
    let firmware = others.read("firmware") { $0.wording("a version") }
    let park = others.read("park") { $0.choice("park position", as: ParkPosition.self) }
    let tags = others.read("tags") { $0.list()?.all { $0.benchName() } }
    let dongles = others.read("dongles") { cursor in
      cursor.list()?.all { $0.name("dongle", of: names["dongles"] ?? []) }
    }
    let allow = others.read("allow") { $0.list()?.all { stimulus($0, of: source) } }
    let limits = others.read("limits", limits)
    guard let name, let source, others.isValid else { return nil }
    return Inventory.Lock(
      name: name, source: source, control: control, firmware: firmware, park: park ?? .locked,
      tags: tags ?? [], dongles: dongles, allow: allow ?? [], limits: limits ?? LockLimits())
  }

  private func source(_ fields: Fields) -> Inventory.Lock.Source? {
    if let file = fields.optional("file") {
      return file.wording("the path of a lock file").map { .file(Path.join(folder, $0)) }
    }
    guard let place = fields.optional("device"), let text = place.text("a device such as emulator:sesame5")
    else { return nil }
    guard let kind = Inventory.emulatedKinds.first(where: text.hasPrefix), text.utf8.count > kind.utf8.count
    else {
      place.reportExpected(
        "a device such as emulator:sesame5", hint: "a real lock is described by its `file`")
      return nil
    }
    guard let problem = checks.device(text) else { return .device(text) }
    place.report(problem)
    return nil
  }

  /// A stimulus that needs a permission.
  private func stimulus(_ cursor: Cursor, of source: Inventory.Lock.Source?) -> String? {
    // Opens the lock file only for a name that is no guarded stimulus of the built-in families.
    if let text = cursor.node.text, !checks.guarded.contains(text), case .file(let path) = source,
      checks.isDriven(path)
    {
      return cursor.wording("a stimulus")
    }
    return cursor.name("stimulus", of: checks.guarded)
  }

  /// `unix:PATH`, made relative to the working directory.
  private func socket(_ text: String) -> String? {
    guard text.hasPrefix("unix:"), text.utf8.count > 5 else { return nil }
    return "unix:" + Path.join(folder, String(text.dropFirst(5)))
  }

  private func limits(_ cursor: Cursor) -> LockLimits? {
    guard let fields = cursor.fields(Grammar.limits) else { return nil }
    var others = OptionalFields(fields)
    var limits = LockLimits()
    limits.ownGap = others.read("gap") { $0.duration() }
    limits.perHour = others.read("per-hour") { $0.integer(in: 1...1_000_000) }
    limits.perShift = others.read("per-shift") { $0.integer(in: 1...1_000_000) }
    limits.coolDown = others.read("cool-down") { $0.duration() } ?? limits.coolDown
    limits.batteryFloor = others.read("battery-floor") { $0.percentage() }
    limits.batterySlope = others.read("battery-slope") { $0.percentage() }
    return others.isValid ? limits : nil
  }

  private func entry(_ fields: Fields) -> Quarantine? {
    let isInOrder = fields.obey(Grammar.quarantineRules)
    var others = OptionalFields(fields)
    let scenario = others.read("scenario") { $0.wording("the path of a scenario") }
    let lock = others.read("lock") { $0.name("lock", of: names["locks"] ?? []) }
    let reason = fields.required("reason")?.wording("a reason")
    let owner = fields.required("owner")?.wording("the person who is responsible for it")
    let expires = fields.required("expires")?.value("a day such as 2026-12-01") { Day(text: $0) }
    guard isInOrder, others.isValid, let reason, let owner, let expires else { return nil }
    return Quarantine(scenario: scenario, lock: lock, reason: reason, owner: owner, expires: expires)
  }
}

/// The names and transports read so far, each of which must be unique.
private struct Seen {
  private var lines: [String: Int] = [:]

  mutating func isNew(_ fields: Fields, _ key: String) -> Bool {
    guard let cursor = fields.optional(key), let text = cursor.node.text, !cursor.isMissing else {
      return true
    }
    // Serial numbers distinguish two dongles of one model.
    let serial = key == "transport" ? fields.optional("serial")?.node.text ?? "" : ""
    let place = "\(key) \(text)/\(serial)"
    guard let line = lines[place] else {
      lines[place] = cursor.position.line
      return true
    }
    cursor.report("duplicate \(key) `\(text)`", hint: "it is given on line \(line) already")
    return false
  }
}

extension Cursor {
  /// Text that is not empty.
  fileprivate func wording(_ expected: String) -> String? { value(expected) { $0.isEmpty ? nil : $0 } }

  /// The name of a device or a switch.
  fileprivate func benchName() -> String? { plainName("a name") }

  /// `20 %`.
  fileprivate func percentage() -> Int? {
    value("a percentage such as 20 %") { text in
      guard text.hasSuffix("%") else { return nil }
      let digits = text.dropLast().reversed().drop { $0 == " " }.reversed()
      let number = String(digits)
      guard number.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let value = Int(number), (0...100).contains(value)
      else { return nil }
      return value
    }
  }
}
