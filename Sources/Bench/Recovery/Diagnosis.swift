import Basics
import Conformance
public import Journal
public import System
import Transports

/// One finding of the diagnosis.
public struct Symptom: Equatable {
  /// Its effect on the bench.
  public enum State: String, CaseIterable {
    case good
    /// Worth knowing, and no obstacle by itself.
    case note
    case bad
  }

  public var state: State
  /// The subject of the finding, in one word.
  public var subject: String
  /// The finding.
  public var text: String
  /// The remedy, as a shell command if there is one.
  public var cure: String?

  public init(_ state: State, _ subject: String, _ text: String, cure: String? = nil) {
    self.state = state
    self.subject = subject
    self.text = text
    self.cure = cure
  }
}

/// The diagnosis of a bench.
public struct Diagnosis {
  public private(set) var findings: [Symptom] = []
  /// Whether a controller can be used and a run can write its files.
  public private(set) var isFit = false
  /// Whether it was interrupted before the diagnosis was complete.
  public private(set) var isCut = false
  /// Whether a run can write its files.
  private var canWrite = false

  public init(_ probe: BenchProbe, reports: String) {
    let dongles = probe.dongles
    let adapters = probe.adapters
    var usable = false
    for dongle in dongles { usable = add(dongle, probe) || usable }
    for adapter in adapters { usable = add(adapter, probe) || usable }
    if dongles.isEmpty, adapters.isEmpty { addAbsence(probe) }
    for port in probe.serialPorts { add(port) }
    for holder in LockHolder.all() {
      found(.note, "locks", "\(holder.endpoint) is in use by \(holder)")
    }
    addState()
    canWrite = addFolders(probe, reports: reports)
    isFit = usable && canWrite
  }
}

extension Diagnosis {
  fileprivate mutating func found(
    _ state: Symptom.State, _ subject: String, _ text: String, cure: String? = nil
  ) {
    findings.append(Symptom(state, subject, text, cure: cure))
  }

  /// Examines the devices of a bench. Other controllers then no longer count.
  public mutating func add(_ bench: BenchFile) throws(UsageError) {
    let today = Calendar.today
    isFit = canWrite
    if bench.inventory.locks.isEmpty, bench.inventory.dongles.isEmpty {
      isFit = false
      found(.bad, "bench", "\(bench.path) has neither a lock nor a dongle", cure: "write them down there")
    }
    for device in try BenchState(bench, today: today).devices {
      let symptom = try self.symptom(of: device, bench)
      if symptom.state == .bad { isFit = false }
      findings.append(symptom)
      for item in device.quarantine where item.status == .lapsed {
        found(.note, device.kind.rawValue, "\(device.name): quarantine expired: \(item.entry)")
      }
    }
  }

  private func symptom(of device: DeviceState, _ bench: BenchFile) throws(UsageError) -> Symptom {
    let subject = device.kind.rawValue
    switch device.use {
    case .unknown(let reason): return Symptom(.bad, subject, "\(device.name): \(reason)")
    case .outOfUse(let reason):
      return Symptom(
        .bad, subject, "\(device.name): out of use since \(reason.since): \(reason.reason)",
        cure: bench.restoring(device.name))
    case .held(let holder): return Symptom(.note, subject, "\(device.name): held by \(holder)")
    case .available:
      if device.kind == .dongle, try transportSpec(device.place).isPresent == false {
        return Symptom(.bad, subject, "\(device.name): \(device.place) is not there", cure: "plug it in")
      }
      return Symptom(.good, subject, "\(device.name), \(device.place)")
    }
  }

  /// Examines a dongle, and returns whether it can be used as it is.
  private mutating func add(_ dongle: BenchProbe.Dongle, _ probe: BenchProbe) -> Bool {
    let name = "\(dongle.vendor):\(dongle.product)" + (dongle.name.map { " \($0)" } ?? "")
    let transport = "usb:\(dongle.path)"
    guard dongle.isAllowed else {
      found(
        .bad, "usb", "\(transport), \(name): this user may not use \(dongle.node)",
        cure:
          "echo '\(udevRule(vendor: dongle.vendor, product: dongle.product))' | sudo tee -a /etc/udev/rules.d/70-lockstep.rules && "
          + "sudo udevadm control --reload && sudo udevadm trigger")
      return false
    }
    let holders = probe.holders(of: dongle.node)
    if dongle.driver == "usbfs" {
      let who = holders.isEmpty ? "another program" : holders.joined(separator: ", ")
      found(.bad, "usb", "\(transport), \(name): in use by \(who)", cure: "end it")
      return false
    }
    let kernel = dongle.driver == "btusb" ? "; the kernel uses it now and releases it when needed" : ""
    found(.good, "usb", "\(transport), \(name)\(kernel)")
    return true
  }

  /// Examines an adapter of the kernel, and returns whether it can be used as it is.
  private mutating func add(_ adapter: BenchProbe.Adapter, _ probe: BenchProbe) -> Bool {
    let transport = "hci-socket:\(adapter.number)"
    var isUsable = true
    func bad(_ text: String, _ cure: String) -> Symptom {
      isUsable = false
      return Symptom(.bad, "adapter", "\(transport): \(text)", cure: cure)
    }
    if adapter.isBlocked { findings.append(bad("switched off by rfkill", "sudo rfkill unblock bluetooth")) }
    if adapter.isUp == true {
      let who = probe.isRunning("bluetoothd") ? "bluetoothd has it" : "it is up"
      findings.append(bad(who, "sudo btmgmt -i \(adapter.number) power off"))
    }
    if !probe.mayTakeAdapters {
      findings.append(
        bad(
          "needs the capability CAP_NET_ADMIN",
          "sudo setcap cap_net_admin,cap_net_raw+ep .build/release/lockstep"))
    }
    if isUsable { found(.good, "adapter", transport) }
    return isUsable
  }

  /// Examines a serial line. Since its other end is known only when it is used, it does not make a bench fit.
  private mutating func add(_ port: BenchProbe.SerialPort) {
    let name = port.name.map { ", \($0)" } ?? ""
    found(
      .note, "serial",
      "serial:\(port.path),SPEED\(name), in case a controller with H4 is behind it",
      cure: port.isAllowed
        ? nil : "sudo usermod --append --groups dialout $USER, then log in again")
  }

  private mutating func addAbsence(_ probe: BenchProbe) {
    found(
      .bad, "controller", "there is no Bluetooth controller on this computer",
      cure:
        "plug in a dongle; without one, 'lockstep emulate sesame5 --serve tcp-server:127.0.0.1:9000' serves a "
        + "lock and a controller for --transport tcp-client:127.0.0.1:9000")
    if let trouble = probe.socketTrouble {
      found(
        .note, "kernel", "no Bluetooth sockets (\(trouble)): no hci-socket:",
        cure: "sudo modprobe bluetooth btusb")
    }
  }

  /// Examines the state folder, and whether the calendar can be trusted.
  private mutating func addState() {
    guard let place = StateFolder.place else { return }
    if let warning = StateFolder.warning {
      found(
        .note, "state", warning,
        cure: StateFolder.isWithheld
          ? "sudo usermod -aG lockstep $(id -un), then log in again" : "lockstep doctor --set-up")
    } else {
      found(.good, "state", "\(place)" + (StateFolder.isShared ? ", shared by its group" : ""))
    }
    // If the store cannot be read, a finding below has advice.
    if StateFolder.trouble == nil, let warning = Calendar.warning {
      found(.bad, "calendar", warning, cure: "set the clock")
    }
  }

  private mutating func addFolders(_ probe: BenchProbe, reports: String) -> Bool {
    var folders = [("reports", reports), ("locks", TransportSettings.usualLockFolder)]
    var isGood = true
    if let state = StateFolder.path {
      folders.append(("store", state))
      if let trouble = StateFolder.trouble {
        isGood = false
        found(.bad, "store", trouble)
      }
    } else {
      isGood = false
      found(.bad, "store", "there is no place for it", cure: "lockstep doctor --set-up")
    }
    for (subject, path) in folders {
      if let trouble = probe.trouble(withFolder: path) {
        isGood = false
        found(.bad, subject, trouble, cure: "sudo install -d -o $(id -un) \(shellWord(path))")
      } else {
        found(.good, subject, path)
      }
    }
    return isGood
  }
}

extension Diagnosis {
  /// Power-cycles each dongle of a bench that has a power switch.
  public mutating func testPower(of file: BenchFile) throws(UsageError) {
    let switched = file.inventory.dongles.compactMap { dongle in
      file.inventory.powerSwitch(of: dongle).map { (dongle, $0) }
    }
    if switched.isEmpty {
      found(.note, "power", "no dongle of \(file.path) has a power switch")
    }
    for (dongle, power) in switched {
      guard !Interruption.isRequested else {
        found(.bad, "power", "\(dongle.name): not tried because of the interruption")
        (isCut, isFit) = (true, false)
        continue
      }
      let spec = try file.choice(dongle).spec
      let finding = Self.test(power, of: dongle, spec)
      findings.append(finding)
      if finding.state == .bad { isFit = false }
      if finding.state == .bad, Interruption.isRequested { isCut = true }
    }
  }

  private static func test(
    _ power: Inventory.PowerSwitch, of dongle: Inventory.Dongle, _ spec: TransportSpec
  ) -> Symptom {
    do {
      let lease = try Lease(of: spec.identity, for: "doctor --power")
      // The longest time that the commands and the power may take.
      let limit = Waiting.now + power.settle * 2 + PowerControl.usualTimeout * 3
      FinalMessage.set(
        "lockstep: ended at once: \(dongle.name) may be without power until this is run: \(power.on)"
          .inOneLine)
      defer { FinalMessage.set(nil) }
      let text = try PowerControl(power, dongle: spec.busPath).cycle(until: limit) {
        Interruption.isRequested
      }
      try lease.confirm()
      return Symptom(.good, "power", "\(dongle.name): \(text)")
    } catch let fault as PowerControl.Fault {
      return Symptom(.bad, "power", "\(dongle.name): \(fault.text)")
    } catch {
      return Symptom(.bad, "power", "\(dongle.name): \(error)")
    }
  }
}

extension Symptom {
  public func text(_ paint: Painter) -> String {
    let (sign, style): (String, Painter.Style) =
      switch state {
      case .good: ("✔", .good)
      case .note: ("·", .faint)
      case .bad: ("✘", .bad)
      }
    return paint(style, sign) + " \(subject): \(text)".inOneLine
      + (cure.map { "\n    " + $0.inOneLine } ?? "")
  }
}

extension Symptom: Written {
  public static let fields: [Field<Self>] = [
    .derived("state", \.state, .words()), .derived("subject", \.subject, .text),
    .derived("text", \.text, .text), .known("cure", \.cure, .text),
  ]
}
