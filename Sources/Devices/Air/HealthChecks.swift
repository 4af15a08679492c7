import Bench
import Basics
import System
import Conformance
public import Harness

extension Devices {
  /// Checks the lock of a run; if the check fails, repeats it once, and with other dongles.
  ///
  /// A lock that fails twice is taken out of use, and so is a dongle; later uses are refused.
  ///
  /// - Returns: Diagnostics, one per line.
  public func checkHealth(of spec: DeviceSpec) -> [String] {
    var diagnostics: [String] = []
    let family: LockFamily
    do { family = try bench.family(of: spec) } catch {
      return ["the health check cannot begin: \(error.detail)"]
    }
    // At most two failures count for each dongle.
    for _ in 0..<(2 * max(1, bench.transportCount)) {
      let device: any DeviceUnderTest
      do {
        device = try self.device(plain(spec), seed: 0)
      } catch {
        if error.symptom == .stopped { return diagnostics }
        guard bench.isReserved else {
          return diagnostics + ["the health check cannot begin: \(error.detail)"]
        }
        diagnostics += take(.transport(error.detail))
        if bench.isExhausted || Interruption.isHeard { return diagnostics }
        Waiting.wait(for: [], until: Waiting.now + .seconds(1))
        continue
      }
      let (finding, words) = check(device, of: family, from: start(of: spec))
      // An interrupted check proves nothing about the lock or the dongle.
      if Interruption.isHeard { return diagnostics + words + ["the health check was stopped"] }
      diagnostics += words + take(finding)
      switch finding {
      case .healthy, .limited: return diagnostics
      case .unwell, .unreached, .transport: if bench.isExhausted { return diagnostics }
      }
      // A single failure may be temporary.
      Waiting.wait(for: [], until: Waiting.now + .seconds(1))
    }
    return diagnostics
  }

  private func check<Device: DeviceUnderTest>(
    _ device: Device, of family: LockFamily, from start: StartCondition
  ) -> (HealthFinding, [String]) {
    let check = HealthCheck(of: device, from: start, family: family)
    let finding = check.perform()
    return (finding, check.takeDiagnostics())
  }

  private func take(_ finding: HealthFinding) -> [String] {
    do {
      return try bench.note(finding)
    } catch {
      return ["the health check is not written down: \(error.detail)"]
    }
  }

  /// Returns the device without the start conditions of a test.
  private func plain(_ spec: DeviceSpec) -> DeviceSpec {
    var spec = spec
    let conditions = startSettings(of: spec)
    spec.settings.removeAll(where: conditions.contains)
    return spec
  }

  /// Returns the settings of an emulated device that are start conditions of a test, and not options of the device.
  private func startSettings(of spec: DeviceSpec) -> [DeviceSpec.Setting] {
    guard spec.kind == .emulator, let options = EmulatedDevice.named(spec.name)?.options else { return [] }
    return spec.settings.filter { !options.contains($0.name) }
  }

  /// Returns the start condition for the check.
  ///
  /// An emulated lock is registered and configured unless its specification sets these conditions; a lock with an
  /// interlock is checked in its current state.
  private func start(of spec: DeviceSpec) -> StartCondition {
    var start = StartCondition()
    guard spec.kind == .emulator, !spec.isInterlocked else { return start }
    start.settings = startSettings(of: spec).map { Argument($0.name, Value(plain: $0.value)) }
    for name in ["registered", "configured"] where start.setting(name) == nil {
      start.settings.append(Argument(name, .flag(true)))
    }
    return start
  }
}
