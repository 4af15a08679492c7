import Basics
import Conformance
import Journal

/// Explores a reference device concurrently with its device: one test whenever the device has shown nothing for a
/// moment, because its motor rests or a message over the air takes its time.
///
/// The seed determines the tests, and the device's time determines their number: if that time is virtual, one
/// seed gives one campaign. A test on the reference device takes far less time than such a moment.
final class TwinSearch<Twin: DeviceUnderTest> {
  private var campaign: Campaign<Twin>
  /// The rare tests since the last request.
  private var rare: [(test: TestCase, actions: [(action: TestAction, isForbidden: Bool)])] = []
  /// The test that the reference device failed: no other test runs until this one was investigated.
  private var failed: TestCase?
  /// Whether the search has ended, since the reference device is unusable.
  private var isOver = false
  /// Whether there is a finding that ends the campaign.
  private(set) var hasFound = false

  init(_ target: FuzzTarget, _ twin: Twin, _ settings: FuzzSettings, edge: Campaign<Twin>.Edge) {
    var settings = settings
    (settings.actuations, settings.steps) = (nil, nil)
    var kept: (TestCase, [(action: TestAction, isForbidden: Bool)]) -> Void = { _, _ in }
    var edge = edge
    edge.keep = { kept($0, $1) }
    campaign = Campaign(target, twin, settings, edge: edge)
    kept = { [unowned self] in rare.append(($0, $1)) }
  }

  /// The status of the search.
  var status: CampaignStatus { campaign.status }

  /// Runs one test.
  func work() {
    if failed == nil, !isOver, !hasFound { failed = campaign.drawTest() }
  }

  /// Shrinks and confirms a failure of the reference device while the device is idle, and tries it on the
  /// device.
  func followUp() {
    guard let test = failed else { return }
    failed = nil
    switch campaign.perform([test]) {
    case .done: break
    case .found: hasFound = true
    case .stopped, .trouble, .limited: isOver = true
    }
  }

  /// Removes and returns the rare tests, each once.
  func takeRare() -> [(test: TestCase, actions: [(action: TestAction, isForbidden: Bool)])] {
    defer { rare = [] }
    return rare
  }
}

/// A device that does other work while it shows nothing.
///
/// A wait is divided into pieces, and the work between two of them is short.
final class AccompaniedDevice<Device: DeviceUnderTest>: DeviceLayer {
  var wrapped: Device
  private let work: () -> Void

  /// How long to wait without an observation before exploration continues.
  private static var moment: Interval { .milliseconds(100) }

  init(_ device: Device, while work: @escaping () -> Void) {
    wrapped = device
    self.work = work
  }

  func observe(until limit: Instant) throws(LabFault) -> Observation? {
    // No work is done in the last moment, so that whatever is due then is on time.
    while wrapped.now + Self.moment + Self.moment < limit {
      let before = wrapped.now
      if let shown = try wrapped.observe(until: before + Self.moment) { return shown }
      // The device itself may have taken until the limit: then no time is left for work.
      guard wrapped.now < limit else { return nil }
      work()
    }
    return try wrapped.observe(until: limit)
  }
}
