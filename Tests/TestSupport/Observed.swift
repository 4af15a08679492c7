public import Basics
public import Conformance

/// What a device shows up to a limit, with its time in seconds.
public func observed<Device: DeviceUnderTest>(
  _ device: inout Device, until limit: Instant, _ vocabulary: Vocabulary
) throws -> [String] {
  var all: [String] = []
  while let observation = try device.observe(until: limit) {
    all.append("\(device.now.secondsText) \(vocabulary.text(of: observation))")
  }
  return all
}

/// So many seconds after a test began.
public func seconds(_ count: Double) -> Instant { .zero + .milliseconds(Int64(count * 1000)) }
