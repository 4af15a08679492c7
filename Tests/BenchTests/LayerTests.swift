@testable import LockFiles
@testable import Bench
import Basics
public import Conformance
public import Links
public import TestSupport
import Testing

extension RecordingDevice: OwnedLock {
  public var isRegistered: Bool { true }
  public var configuration: [Argument]? { nil }
  public func recallKey() -> Bool { false }
  public func dropRecalledKey() {}
}

@Suite("What a bench puts around a lock")
struct LayerTests {
  private static var cycleCounter: CycleCounter {
    let clock = { BenchTime(wall: WallTime(nanoseconds: 0), boot: "a", uptime: .zero) }
    return CycleCounter(clock: clock)
  }

  @Test("nothing is answered in the lock's place")
  func layers() {
    expect(silentAnswers { Interlock($0, InterlockSettings(), Self.cycleCounter) }, [])
    expect(silentAnswers { RealLock($0, InterlockSettings(), Self.cycleCounter) }, [])
    expect(silentAnswers { ReservedDevice($0) { nil } }, [])
    expect(silentAnswers { ReservedDevice(RealLock($0, InterlockSettings(), Self.cycleCounter)) { nil } }, [])
  }

  @Test("a place that is ours no longer has whoever uses its device stop, and the device none the wiser")
  func reserved() {
    let fault = LabFault(.transportLost, "the place is somebody else's")
    for call in [DeviceCall.reset, .perform, .bring, .observe, .restart] {
      let device = RecordingDevice()
      var layer = ReservedDevice(device) { fault }
      expect(call.answer(of: &layer), fault.description)
      expect(device.calls, [])
    }
  }
}
