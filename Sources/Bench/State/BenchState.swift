import LockFiles
public import Journal
import Transports
import System
import Conformance
public import Basics

/// The current state of one lock or dongle of a bench.
public struct DeviceState {
  /// Whether it can be used.
  public enum Use: Equatable {
    case available
    case held(LeaseHolder)
    case outOfUse(DeviceHealth.OutOfUse)
    /// Its identity or its state cannot be determined.
    case unknown(String)
  }

  /// The kind of device.
  public enum Kind: String {
    case dongle, lock
  }

  public var kind: Kind
  /// Its name in the inventory.
  public var name: String
  /// Its identity; `nil` if that cannot be determined.
  public var identity: String?
  /// Its address: a transport, a lock file or an emulator.
  public var place: String
  public var use: Use
  /// The failures of its last health checks.
  public var failures: [DeviceHealth.Failure] = []
  public var wear: Wear?
  /// The quarantine entries that cover it, and whether each is active today.
  public var quarantine: [Quarantined] = []

  /// The wear of a lock.
  public struct Wear {
    /// The number of movements in total, in the last hour and in the last twelve hours.
    public var total: Int
    public var hour: Int
    public var shift: Int
    public var limits: LockLimits
    /// The last battery level seen, in percent.
    public var battery: Int?
    /// The pending park that a killed run left behind.
    public var pendingPark: PendingPark?
    /// The movement budget that blocks its motor.
    public var worn: ActuationBudget.Refusal?
    /// The jam that blocks its motor.
    public var cooling: ActuationBudget.Refusal?
    /// The battery reading that blocks it.
    public var low: ActuationBudget.Refusal?
  }
}

extension DeviceState.Use {
  /// Determines whether a device can be used.
  public init(of identity: String) {
    if let holder = Lease.holder(of: identity) {
      self = .held(holder)
      return
    }
    do throws(LabFault) {
      self = try HealthStore.health(of: identity).outOfUse.map { .outOfUse($0) } ?? .available
    } catch {
      self = .unknown(error.detail)
    }
  }
}

/// The current state of all devices of a bench. Reading it changes none of them.
public struct BenchState {
  let bench: BenchFile
  public private(set) var devices: [DeviceState] = []

  public init(_ bench: BenchFile, today: Day) throws(UsageError) {
    self.bench = bench
    for dongle in bench.inventory.dongles {
      let identity = try bench.choice(dongle).spec.identity
      devices.append(device(.dongle, dongle.name, identity, dongle.transport))
    }
    for lock in bench.inventory.locks { devices.append(state(of: lock, today)) }
  }

  private func state(of lock: Inventory.Lock, _ today: Day) -> DeviceState {
    let benchLock = BenchLock(bench: bench, lock: lock)
    var state: DeviceState
    switch lock.source {
    case .device(let text): state = device(.lock, lock.name, benchLock.emulatedIdentity, text)
    case .file(let path):
      let file: LockFile
      do {
        file = try LockFile(reading: path)
      } catch {
        return DeviceState(
          kind: .lock, name: lock.name, place: path, use: .unknown(error.description),
          quarantine: quarantine(of: lock.name, today))
      }
      state = device(.lock, lock.name, file.identity, path)
      do throws(LabFault) {
        state.wear = try wear(of: file.identity, lock.limits)
      } catch  where !state.use.isHeld {
        state.use = .unknown(error.detail)
      } catch {}
    }
    state.quarantine = quarantine(of: lock.name, today)
    return state
  }

  private func device(
    _ kind: DeviceState.Kind, _ name: String, _ identity: String, _ place: String
  ) -> DeviceState {
    var state = DeviceState(
      kind: kind, name: name, identity: identity, place: place, use: DeviceState.Use(of: identity))
    state.failures = (try? HealthStore.health(of: identity).failures) ?? []
    return state
  }

  private func wear(of lock: String, _ limits: LockLimits) throws(LabFault) -> DeviceState.Wear {
    let now = BenchClock.now
    guard let (total, ledger) = try CycleCounter.known(of: lock, now: now) else {
      return DeviceState.Wear(total: 0, hour: 0, shift: 0, limits: limits)
    }
    var wear = DeviceState.Wear(
      total: total, hour: ledger.count(in: .seconds(3600), at: now.uptime),
      shift: ledger.count(in: ActuationBudget.shift, at: now.uptime), limits: limits, battery: ledger.battery)
    wear.low = ledger.batteryRefusal(under: limits)
    // The current holder has yet to park the lock.
    if Lease.holder(of: lock) == nil { wear.pendingPark = ledger.pendingPark }
    // The battery's refusal lasts longer than that of any budget and would hide it.
    var motor = limits
    (motor.batteryFloor, motor.batterySlope) = (nil, nil)
    if let refusal = ledger.refusal(for: .movement, under: motor, at: now.uptime) {
      switch refusal.limit {
      case .hour, .shift: wear.worn = refusal
      case .coolDown: wear.cooling = refusal
      case .batteryFloor, .batterySlope, .gap: break
      }
    }
    return wear
  }
}

extension BenchState {
  /// The quarantine entries that cover a lock, or every lock.
  public func quarantine(of lock: String?, _ today: Day) -> [Quarantined] {
    bench.inventory.quarantine.filter { $0.lock == lock }
      .map { Quarantined(entry: $0, status: $0.status(on: today)) }
  }
}

/// A quarantine entry, and whether it is active today.
public struct Quarantined {
  public var entry: Quarantine
  public var status: Quarantine.Status
}
