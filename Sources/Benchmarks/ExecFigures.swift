package import Basics
import Conformance
import Devices
import Harness
import System

extension Figure {
  /// The speed of programs that are devices in virtual time.
  static var programs: [Figure] {
    [
      virtual("python", .python, command: "exec python3 keypad.py"),
      virtual("c", .c, command: "exec ./keypad", build: "cc -O2 -o keypad keypad.c -lm"),
    ]
  }

  private static func virtual(
    _ name: String, _ program: ExecKeypad, command: String, build: String = "true"
  ) -> Figure {
    Figure(
      name: "exec.virtual.\(name)", unit: "ratio", better: .higher,
      method: """
        Events of generated tests a second on a keypad lock with three timers in virtual time, a program with the file of \
        `lockstep bindings \(name)`, over bare round trips through the two pipes of the same program, by turns; the best of \
        5 rounds of 20,000 each.
        """,
      measure: {
        let folder = scratch("-exec-\(Host.processNumber)-\(name)")
        defer { clear(folder) }
        guard (try? program.write(to: folder)) != nil,
          Measurement.run("/bin/sh", ["-c", "cd \(shellWord(folder)) && \(build)"])?.status == 0
        else { return nil }
        return ExecPace(
          command: "cd \(shellWord(folder)) && \(command)", machine: folder + "/keypad.yaml",
          request: ["advance": 1, "at": 0])?.ratio(rounds: 5, events: 20_000)
      })
  }
}

/// Measures the speed of a program as a device, and that of its pipes.
package struct ExecPace {
  private let command: String
  private let request: JSON
  private let world = World()
  private let target: FuzzTarget

  /// Makes a measurement, or returns `nil` if the machine cannot be read or the device cannot be used.
  ///
  /// - Parameters:
  ///   - command: The command for the shell.
  ///   - machine: The machine of the device.
  ///   - request: The request for measuring the speed of the pipes.
  package init?(command: String, machine: String, request: JSON) {
    (self.command, self.request) = (command, request)
    guard let machine = try? world.machines.machine(machine),
      let target = try? FuzzTarget(machine, DeviceSpec(.exec, command), seed: 1, provider: world.devices)
    else { return nil }
    self.target = target
  }

  /// Returns the events per second divided by the round trips per second.
  package func ratio(rounds: Int, events: Int) -> Double? {
    defer { world.devices.shutDown() }
    guard
      let pace = PipePace(command: command, request: request.line)
    else { return nil }
    var best: (events: Double, trips: Double) = (0, 0)
    for round in 1...rounds {
      guard let trips = pace.roundTrips(events), let time = fuzz(events, seed: UInt64(round)) else {
        return nil
      }
      best.trips = max(best.trips, Double(events) / trips.seconds)
      best.events = max(best.events, Double(events) / time)
    }
    return best.events / best.trips
  }

  /// Returns the duration in seconds of a campaign with a number of events.
  private func fuzz(_ events: Int, seed: UInt64) -> Double? {
    guard let device = try? world.devices.device(target.device, seed: seed) else { return nil }
    return fuzz(events, seed: seed, device)
  }

  private func fuzz<Device: DeviceUnderTest>(_ events: Int, seed: UInt64, _ device: Device) -> Double? {
    var settings = FuzzSettings()
    settings.steps = events
    settings.seed = seed
    var campaign = Campaign(target, device, settings, edge: .init())
    var isDone = false
    let time = seconds { isDone = campaign.perform() == .done }
    return isDone ? time : nil
  }
}
