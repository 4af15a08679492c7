import Conformance
import System
import Glibc
public import Basics

/// Power-cycles a dongle by the commands of a bench, and verifies that the power really dropped.
///
///     off ──▶ wait until it dropped ──▶ half a second ──▶ on ──▶ wait until it is back
///
/// The power counts as off when the switch's `check` exits with a status other than 0, or when the dongle has left
/// its bus: some hubs report a switched port and do not switch it. Without either sign it counts as not dropped.
/// Whatever fails, `on` is run at the end.
///
/// Each command runs in a process group of its own, with a timeout that allows for a busy machine; then the group is
/// killed.
public struct PowerControl: Sendable {
  /// A failure, as a sentence.
  public struct Fault: Error, Equatable, Sendable {
    /// The sentence.
    public var text: String
  }

  /// The default timeout of a command.
  public static let usualTimeout = Interval.seconds(10)
  /// How long the power stays off, so that capacitors discharge.
  static let pause = Interval.milliseconds(500)

  private let power: Inventory.PowerSwitch
  private let dongle: String?
  private let isGone: Bool
  private let root: String
  /// The timeout of a command.
  private let commandTimeout: Interval

  /// Controls a switch.
  ///
  /// - Parameters:
  ///   - dongle: the dongle's position on the bus, as in `1-2.3`; `nil` for another controller.
  ///   - isGone: whether the dongle has already left its bus, so that it cannot show a loss of power. Without a check
  ///     its return must then suffice.
  ///   - root: the folder that contains sysfs, for tests.
  ///   - commandTimeout: the timeout of a command.
  public init(
    _ power: Inventory.PowerSwitch, dongle: String?, isGone: Bool = false, root: String = "",
    commandTimeout: Interval = PowerControl.usualTimeout
  ) {
    self.commandTimeout = commandTimeout
    self.power = power
    self.dongle = dongle
    self.isGone = isGone
    self.root = root
  }
}

extension PowerControl {
  /// Switches the power off and on.
  ///
  /// - Parameter isStopped: whether to stop waiting; even then the power is switched on again.
  /// - Returns: the result as a sentence.
  public func cycle(
    until limit: Instant, isStopped: () -> Bool = { false }
  ) throws(Fault) -> String {
    let wasThere = isOnBus
    let begin = Waiting.now
    do {
      try run(power.off, "off")
      try awaitFall(wasThere: wasThere, until: min(limit, Waiting.now + power.settle), isStopped)
    } catch {
      // A dongle without power is worse than one that hangs.
      let failure = run(power.on)
      if isStopped(), failure == nil {
        throw Fault(text: "stopped, and the power of \(power.name) was turned on again")
      }
      throw Fault(text: error.text + (failure.map { "; and 'on' \($0)" } ?? ""))
    }
    let fallen = Waiting.now - begin
    Waiting.wait(for: [], until: Waiting.now + Self.pause)
    try run(power.on, "on")
    let back = min(limit, Waiting.now + power.settle)
    while Waiting.now < back, !isStopped(), !hasPower(wasThere: wasThere) { sleep() }
    guard hasPower(wasThere: wasThere) else {
      if isStopped() {
        throw Fault(text: "stopped, and the power of \(power.name) was turned on again, but is not seen yet")
      }
      throw Fault(text: "the power of \(power.name) is not back \(power.settle) after 'on'")
    }
    if isGone, power.check == nil {
      return
        "the power of \(power.name) was turned off for \(rounded(fallen)), but it is unknown whether it "
        + "fell"
    }
    return "the power of \(power.name) fell \(rounded(fallen)) after 'off', and is back"
  }

  private func awaitFall(
    wasThere: Bool, until limit: Instant, _ isStopped: () -> Bool
  ) throws(Fault) {
    if isGone, power.check == nil {
      Waiting.wait(for: [], until: limit)
      return
    }
    guard power.check != nil || wasThere else {
      throw Fault(
        text:
          "it is unknown whether the power of \(power.name) fell: it has no check, and the controller "
          + "is on no bus"
      )
    }
    repeat {
      if hasFallen(wasThere: wasThere) { return }
      if isStopped() { throw Fault(text: "stopped before the power of \(power.name) fell") }
      sleep()
    } while Waiting.now < limit
    throw Fault(text: "the power of \(power.name) did not fall within \(power.settle) of 'off'")
  }

  /// Whether the power is off: the check reports it, or the dongle has left its bus.
  private func hasFallen(wasThere: Bool) -> Bool {
    if wasThere, !isOnBus { return true }
    return power.check.map { isRefused($0) } ?? false
  }

  /// Whether the power is back: the check reports it, and the dongle, if it was present before, is back on
  /// its bus.
  private func hasPower(wasThere: Bool) -> Bool {
    if wasThere, !isOnBus { return false }
    return power.check.map { run($0) == nil } ?? true
  }

  private var isOnBus: Bool {
    dongle.map { smallFile("\(root)/sys/bus/usb/devices/\($0)/idVendor") != nil } ?? false
  }

  /// Whether a check exited with a status other than 0. A check that was killed has no result.
  private func isRefused(_ command: String) -> Bool {
    guard case .exit(let status)? = end(of: command) else { return false }
    // The shell's statuses for a command that it cannot find or start are no result either.
    return status != 0 && status != 126 && status != 127
  }

  private func run(_ command: String, _ name: String) throws(Fault) {
    if let failure = run(command) { throw Fault(text: "'\(name)' of \(power.name) \(failure)") }
  }

  /// Runs a command, and returns why it failed; `nil` if it did not.
  private func run(_ command: String) -> String? {
    switch end(of: command) {
    case .exit(0)?: nil
    case .exit(let status)?: "ended with status \(status)"
    case .signal(let number)?: "was ended by signal \(number)"
    case nil: "took longer than \(commandTimeout), and was killed"
    }
  }

  /// How a command ended; `nil` if it had to be killed or could not be started.
  private func end(of command: String) -> Ending? {
    guard let child = try? ChildProcess(command: command, in: power.folder) else { return .exit(127) }
    let limit = MonotonicClock.now + commandTimeout
    // Its output is discarded, but must be read so that the command does not block.
    reading: while true {
      switch child.nextLine(until: limit) {
      case .line, .tooLong: continue
      case .timedOut, .ended: break reading
      }
    }
    return child.stop(grace: max(.milliseconds(50), limit - MonotonicClock.now))
  }

  private func sleep() { Waiting.wait(for: [], until: Waiting.now + .milliseconds(50)) }

  private func rounded(_ interval: Interval) -> Interval {
    .milliseconds(interval.nanoseconds / 1_000_000)
  }
}
