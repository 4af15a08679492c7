public import Basics

/// A recorder that computes a fingerprint of a test's trace: equal traces, times included, have equal fingerprints.
///
/// FNV-1a over 64 bits: the same on every machine.
public struct TraceHash: TraceRecorder, Sendable {
  @usableFromInline var fingerprint = Fingerprint()
  /// The trace itself, if it is also kept; `nil` if only the fingerprint is.
  public var trace: TraceList?

  /// The fingerprint so far.
  public var value: UInt64 { fingerprint.value }

  /// Makes a recorder with an empty trace.
  public init() {}

  public mutating func begin() {
    fingerprint = Fingerprint()
    if trace != nil { trace = TraceList() }
  }

  @inlinable
  public mutating func record(_ event: TraceEvent, at time: Instant) {
    if trace != nil { trace?.record(event, at: time) }
    mix(UInt64(bitPattern: time.nanoseconds))
    switch event {
    case .observation(.status(let number)): mix(UInt64(truncatingIfNeeded: number) << 3 | 1)
    case .observation(.effect(let number)): mix(UInt64(truncatingIfNeeded: number) << 3 | 2)
    case .observation(.unknown(let text)): mix(text, 3)
    case .observation(.refused(let text)): mix(text, 4)
    case .observation(.violation(let violation)):
      mix(violation.description, 5)
      for byte in violation.packet?.bytes ?? [] { mix(UInt64(byte)) }
    case .observation(.event(let seen)): mix("\(seen.number) \(seen.detail)", 8)
    case .observation(.reading(let reading)): mix(reading.name + " " + reading.value.description, 6)
    case .stimulus(let stimulus):
      mix(UInt64(truncatingIfNeeded: stimulus.number) << 3 | 7)
      for argument in stimulus.arguments { mix(argument.name + " " + argument.value.description, 7) }
    case .fault(let fault): mix(fault.name + " " + fault.value.description, 0)
    }
  }

  @inlinable
  mutating func mix(_ word: UInt64) { fingerprint.mix(word) }

  @usableFromInline @inline(never)
  mutating func mix(_ text: String, _ kind: UInt64) {
    mix(kind)
    fingerprint.mix(text)
  }
}

extension TraceHash: CustomStringConvertible {
  /// Sixteen hexadecimal digits.
  public var description: String { fingerprint.description }
}
