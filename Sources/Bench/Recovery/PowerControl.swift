import Conformance
import System
import Glibc
public import Basics

/// Turns the power of a dongle off and on by the commands of a bench, and makes sure that it really fell.
///
///     off ──▶ wait until it fell ──▶ half a second ──▶ on ──▶ wait until it is back
///
/// That power fell is believed of the switch's `check`, when it ends with another status than 0, or of the dongle when it
/// is gone from its bus: there are hubs that say that they switch and do not. Where neither can be had, nobody knows, and
/// it counts as not fallen. Whatever goes wrong, `on` is run at the end.
///
/// Each command runs in a process group of its own, for a time that a busy machine does not exceed; then the group is killed.
public struct PowerControl: Sendable {
  /// What went wrong, in a sentence.
  public struct Fault: Error, Equatable, Sendable {
    /// The sentence.
    public var text: String
  }

  /// How long a command may take unless given.
  public static let usualTimeout = Interval.seconds(10)
  /// How long power stays off once it fell, for what is charged to discharge.
  static let pause = Interval.milliseconds(500)

  private let power: Inventory.PowerSwitch
  private let dongle: String?
  private let isGone: Bool
  private let root: String
  /// How long a command may take.
  private let commandTimeout: Interval

  /// Controls a switch.
  ///
  /// - Parameters:
  ///   - dongle: the place on the bus of the dongle that hangs on it, as in `1-2.3`; `nil` for another controller.
  ///   - isGone: whether the dongle is gone from its bus before its power is, so that it cannot show it. That it comes back
  ///     has to do then, where there is no check.
  ///   - root: the folder below which sysfs lies, for tests.
  ///   - commandTimeout: how long a command may take.
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
  /// Turns the power off and on.
  ///
  /// - Parameter isStopped: whether nothing is waited for any more; then too the power is turned on again.
  /// - Returns: what happened, in a sentence.
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
        "the power of \(power.name) was turned off for \(rounded(fallen)), and whether it fell nobody could see"
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
          "nobody can tell whether the power of \(power.name) fell: it has no check, and the controller is on no bus"
      )
    }
    repeat {
      if hasFallen(wasThere: wasThere) { return }
      if isStopped() { throw Fault(text: "stopped before the power of \(power.name) fell") }
      sleep()
    } while Waiting.now < limit
    throw Fault(text: "the power of \(power.name) did not fall within \(power.settle) of 'off'")
  }

  /// Whether there is none: the check says so, or the dongle is gone from its bus.
  private func hasFallen(wasThere: Bool) -> Bool {
    if wasThere, !isOnBus { return true }
    return power.check.map { isRefused($0) } ?? false
  }

  /// Whether there is power again: the check says so, and the dongle, if it was there, is back on its bus.
  private func hasPower(wasThere: Bool) -> Bool {
    if wasThere, !isOnBus { return false }
    return power.check.map { run($0) == nil } ?? true
  }

  private var isOnBus: Bool {
    dongle.map { smallFile("\(root)/sys/bus/usb/devices/\($0)/idVendor") != nil } ?? false
  }

  /// Whether a check ended by itself, with another status than 0. One that was killed says nothing.
  private func isRefused(_ command: String) -> Bool {
    guard case .exit(let status)? = end(of: command) else { return false }
    // What the shell cannot find or start is no answer either.
    return status != 0 && status != 126 && status != 127
  }

  private func run(_ command: String, _ name: String) throws(Fault) {
    if let failure = run(command) { throw Fault(text: "'\(name)' of \(power.name) \(failure)") }
  }

  /// Runs a command, and says what was wrong with it if anything was.
  private func run(_ command: String) -> String? {
    switch end(of: command) {
    case .exit(0)?: nil
    case .exit(let status)?: "ended with status \(status)"
    case .signal(let number)?: "was ended by signal \(number)"
    case nil: "took longer than \(commandTimeout), and was killed"
    }
  }

  /// How a command ended; `nil` when it had to be killed, or could not be started.
  private func end(of command: String) -> Ending? {
    guard let child = try? ChildProcess(command: command, in: power.folder) else { return .exit(127) }
    let limit = MonotonicClock.now + commandTimeout
    // What it says is of no interest, but it has to be able to say it.
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
