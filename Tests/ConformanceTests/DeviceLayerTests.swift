import Basics
import Conformance
import TestSupport
import Testing

@Suite("A layer of a device")
struct DeviceLayerTests {
  private final class Bare: DeviceLayer {
    var wrapped: RecordingDevice
    init(_ device: RecordingDevice) { wrapped = device }
  }

  @Test("one that changes nothing answers nothing in the place of what is in it")
  func bare() { expect(silentAnswers { Bare($0) }, []) }

  @Test("one that keeps something to itself is found out")
  func deaf() {
    final class Deaf: DeviceLayer {
      var wrapped: RecordingDevice
      init(_ device: RecordingDevice) { wrapped = device }
      var answerDue: Instant? { nil }
    }
    expect(silentAnswers { Deaf($0) }.count, 2)
  }
}
