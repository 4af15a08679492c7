import Basics
import Conformance
import Journal

/// A twin that is explored beside its device: a test whenever the device has let a moment pass without showing anything,
/// because its motor rests, or something on the air is waited for.
///
/// Which tests are done follows from the seed, and how many from the time that passes on the device: where that is
/// virtual, one seed gives one campaign. What a test of the twin takes is far less than such a moment.
final class TwinSearch<Twin: DeviceUnderTest> {
  private var campaign: Campaign<Twin>
  /// Tests that did what few others did, since they were last asked for.
  private var rare: [(test: TestCase, actions: [(action: TestAction, isForbidden: Bool)])] = []
  /// The test that the reference device failed: nothing else is done until it was investigated.
  private var failed: TestCase?
  /// Whether nothing more is done, since the twin is of no use.
  private var isOver = false
  /// Whether it came upon something that ends the campaign.
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

  /// How far it is.
  var status: CampaignStatus { campaign.status }

  /// Does one test.
  func work() {
    if failed == nil, !isOver, !hasFound { failed = campaign.drawTest() }
  }

  /// Shrinks and confirms what the twin failed, now that nothing is under way on the device, and has the device asked for it.
  func followUp() {
    guard let test = failed else { return }
    failed = nil
    switch campaign.perform([test]) {
    case .done: break
    case .found: hasFound = true
    case .stopped, .trouble, .limited: isOver = true
    }
  }

  /// The rare tests, each once.
  func takeRare() -> [(test: TestCase, actions: [(action: TestAction, isForbidden: Bool)])] {
    defer { rare = [] }
    return rare
  }
}

/// A device beside which work is done while it shows nothing.
///
/// What is waited for is waited for in pieces; the work between two of them is short.
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
    // The last moment is left alone, so that what is due then is on time.
    while wrapped.now + Self.moment + Self.moment < limit {
      let before = wrapped.now
      if let shown = try wrapped.observe(until: before + Self.moment) { return shown }
      // After a longer search there is an observation to return.
      guard wrapped.now < limit else { return nil }
      work()
    }
    return try wrapped.observe(until: limit)
  }
}
