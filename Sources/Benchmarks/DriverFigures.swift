import Basics
import Conformance
import Devices
import Programs
import Files
import Harness
import System

extension Figure {
  /// The speed of a lock protocol in a driver program over the emulated radio.
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

/// Measures the speed of a driver and a peripheral.
private struct DriverPace {
  private let world = World()
  private let device: any DeviceUnderTest
  private static let vocabulary = Vocabulary(stimuli: ["connect", "toggle"], statuses: ["off", "on"])

  init?(_ folder: String) {
    let command = "cd \(shellWord(folder)) && exec python3"
    let spec = DeviceSpec(.driver, "\(command) driver.py", [.init("peripheral", "\(command) lock.py")])
    guard let device = try? world.devices.device(spec, seed: 1) else { return nil }
    self.device = device
  }

  /// Returns the number of commands per second.
  func commands(rounds: Int, count: Int) -> Double? {
    defer { world.devices.shutDown() }
    return Self.commands(rounds: rounds, count: count, device)
  }

  private static func commands<Device: DeviceUnderTest>(
    rounds: Int, count: Int, _ device: Device
  ) -> Double? {
    var device = device
    device.adopt(vocabulary)
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
      [
        ("driver.py", EmbeddedFile.benchDriver.text), ("lock.py", EmbeddedFile.benchLock.text),
        ("cipher.py", EmbeddedFile.benchCipher.text),
      ]
      + Binding.all.filter { $0.language == "python" }.map { ($0.fileName, $0.text) }
    for (name, text) in files { try WholeFile.replace(folder + "/" + name, with: text) }
  }
}
