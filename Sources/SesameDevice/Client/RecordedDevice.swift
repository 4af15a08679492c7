public import Sesame

/// A device whose link can be noted down.
public protocol RecordedDevice {
  /// Notes what goes over the link from now on, from the beginning of each test; `nil` ends it.
  mutating func record(to recorder: LinkRecorder?)
}

extension ClientDevice: RecordedDevice {}
