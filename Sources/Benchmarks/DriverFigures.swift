import Basics
import Conformance
import Devices
import Harness
import System

extension Figure {
  /// How fast a lock's protocol in a program is driven over our radio.
  static var drivers: [Figure] {
    [
      Figure(
        name: "driver.commands", unit: "1/s", better: .higher,
        method: """
          Encrypted commands a second, each from the stimulus to the status that the lock's notification brings, with a driver \
          and a peripheral in Python on our radio in virtual time: both encrypt and check with HMAC-SHA-256. Two processes \
          beside ours take their turns. The best of 5 rounds of 2,000.
          """,
        measure: {
          let folder = scratch("-driver-\(Host.processNumber)")
          defer { clear(folder) }
          guard (try? DriverPace.write(to: folder)) != nil else { return nil }
          return DriverPace(folder)?.commands(rounds: 5, count: 2_000)
        })
    ]
  }
}

/// The pace of a driver and a peripheral.
private struct DriverPace {
  private let world = World()
  private let device: any DeviceUnderTest
  private static let words = Vocabulary(stimuli: ["connect", "toggle"], statuses: ["off", "on"])

  init?(_ folder: String) {
    let command = "cd \(shellWord(folder)) && exec python3"
    let spec = DeviceSpec(.driver, "\(command) driver.py", [.init("peripheral", "\(command) lock.py")])
    guard let device = try? world.devices.device(spec, seed: 1) else { return nil }
    self.device = device
  }

  /// Commands a second.
  func commands(rounds: Int, count: Int) -> Double? {
    defer { world.devices.shutDown() }
    return Self.commands(rounds: rounds, count: count, device)
  }

  private static func commands<Device: DeviceUnderTest>(
    rounds: Int, count: Int, _ device: Device
  ) -> Double? {
    var device = device
    device.adopt(words)
    var best: Double?
    do throws(LabFault) {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      guard try status(of: &device) == 0 else { return nil }
      for _ in 0..<rounds {
        let begin = MonotonicClock.now
        for number in 1...count {
          try device.perform(Stimulus(1))
          guard try status(of: &device) == number % 2 else { return nil }
        }
        let pace = Double(count) / (MonotonicClock.now - begin).seconds
        best = max(best ?? 0, pace)
      }
      return best
    } catch {
      return nil
    }
  }

  private static func status<Device: DeviceUnderTest>(of device: inout Device) throws(LabFault) -> Int? {
    guard case .status(let number)? = try device.observe(until: device.now + .seconds(10)) else { return nil }
    return number
  }

  static func write(to folder: String) throws(FileFault) {
    try makeFolder(folder)
    let files =
      [("driver.py", driver), ("lock.py", lock), ("cipher.py", cipher)]
      + Binding.all.filter { $0.language == "python" }.map { ($0.fileName, $0.text) }
    for (name, text) in files { try WholeFile.replace(folder + "/" + name, with: text) }
  }

  private static let cipher = """
    import hmac
    KEY = b"sixteen byte key"
    def stream(counter, direction):
        return hmac.digest(KEY, b"%c%d" % (direction, counter), "sha256")
    def seal(counter, direction, body):
        text = bytes(a ^ b for a, b in zip(body, stream(counter, direction)))
        return text + hmac.digest(KEY, b"%c%d" % (direction, counter) + text, "sha256")[:4]
    def unseal(counter, direction, message):
        text = message[:-4]
        if hmac.digest(KEY, b"%c%d" % (direction, counter) + text, "sha256")[:4] != message[-4:]:
            raise ValueError("a wrong tag")
        return bytes(a ^ b for a, b in zip(text, stream(counter, direction)))
    """

  private static let driver = """
    import lockstep_device
    from cipher import seal, unseal
    lock = lockstep_device.Driver("bench", services=["fff0"])

    @lock.reset
    def reset():
        lock.sent = lock.got = 0

    @lock.stimulus
    def connect():
        lock.scan()

    @lock.heard
    def heard(advertisement):
        lock.stopScanning()
        lock.connect()

    @lock.ready
    def ready(services):
        lock.subscribe("fff2")

    @lock.notified("fff2")
    def notified(message):
        lock.got += 1
        lock.show("on" if unseal(lock.got, 2, message) == b"1" else "off")

    @lock.stimulus
    def toggle():
        lock.sent += 1
        lock.write("fff1", seal(lock.sent, 1, b"toggle"))

    lock.run()
    """

  private static let lock = """
    import lockstep_device
    from cipher import seal, unseal
    lock = lockstep_device.Peripheral(
        "bench", advertise={"services": ["fff0"]},
        services={"fff0": {"fff1": ["write-without-response"], "fff2": ["notify"]}})

    @lock.reset
    def reset():
        lock.isOn, lock.sent, lock.got = False, 0, 0

    def tell():
        lock.sent += 1
        lock.notify("fff2", seal(lock.sent, 2, b"1" if lock.isOn else b"0"))

    @lock.subscription("fff2")
    def subscription(isOn):
        tell()

    @lock.written("fff1")
    def written(message):
        lock.got += 1
        if unseal(lock.got, 1, message) == b"toggle":
            lock.isOn = not lock.isOn
        tell()

    lock.run()
    """
}
