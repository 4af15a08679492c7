import Sesame
import Basics
import Bluetooth

/// How a client finds a lock's characteristics and turns its notifications on, with the fewest exchanges that the
/// default MTU allows and nothing remembered from earlier links (Core 5.4, Vol 3 Part G §4.4.2, §4.6.1, §4.7.1,
/// §4.9.3).
///
///     [MTU] ──▶ service ──▶ characteristics ──▶ [configuration] ──▶ subscribing ──▶ (done)
///
/// Some phones ask for a larger MTU on each link, and some never do: a lock bears both, and its frames stay as long as they
/// are.
///
/// A characteristic that notifies has a client characteristic configuration (Vol 3 Part G §3.3.3.3): it is looked
/// for among the descriptors, unless there is but one handle that it can have.
struct LockDiscovery: Sendable {
  /// What comes next.
  enum Step: Equatable, Sendable {
    case procedure(GATTProcedure)
    case done
    /// It is no lock; the sentence says what is missing.
    case failed(String)
  }

  private enum State: Sendable {
    case mtu
    case service
    case characteristics(AttributeRange)
    case configuration
    case subscribing
  }

  private var state: State
  /// What frames are written to; known once ``notify`` is.
  private(set) var write = AttributeHandle(rawValue: 0)
  /// What frames are notified from.
  private(set) var notify = AttributeHandle(rawValue: 0)

  /// Begins on a link.
  ///
  /// - Parameter asksForMTU: whether a larger MTU is asked for before anything else.
  init(asksForMTU: Bool = false) { state = asksForMTU ? .mtu : .service }

  /// What comes first.
  var first: GATTProcedure {
    if case .mtu = state { .exchangeMTU } else { Self.search }
  }

  private static let search = GATTProcedure.findService(SesameService.service)

  /// Takes in what came of the procedure before.
  mutating func receive(_ result: Result<GATTResult, GATTFailure>) -> Step {
    switch (state, result) {
    // To refuse it is a server's right.
    case (.mtu, .success(.mtu)), (.mtu, .failure(.refused)):
      state = .service
      return .procedure(Self.search)

    case (.service, .success(.services(let services))):
      guard let service = services.first(where: { $0.uuid == SesameService.service }) else {
        return .failed("it has no service \(SesameService.service)")
      }
      state = .characteristics(service.range)
      return .procedure(
        .discoverCharacteristics(service.range, wanted: [SesameService.write, SesameService.notify]))

    case (.characteristics(let range), .success(.characteristics(let found))):
      return take(found, of: range)

    case (.configuration, .success(.descriptors(let found))):
      guard let descriptor = found.first(where: { $0.uuid == Self.configuration }) else {
        return .failed("its notifications cannot be turned on")
      }
      return subscribe(at: descriptor.handle)

    case (.subscribing, .success(.written)):
      return .done

    case (_, .failure(let failure)):
      return .failed(Self.text(of: failure))

    case (_, .success):
      return .failed("its answer is to something else")
    }
  }

  private mutating func take(_ found: [DiscoveredCharacteristic], of range: AttributeRange) -> Step {
    guard let write = found.first(where: { $0.uuid == SesameService.write }),
      let notify = found.first(where: { $0.uuid == SesameService.notify })
    else { return .failed("its service lacks a characteristic") }
    guard notify.properties.contains(.notify), notify.value < range.last else {
      return .failed("it does not notify")
    }
    self.write = write.value
    self.notify = notify.value
    // Its descriptors end where the next characteristic begins.
    let next = found.map(\.declaration).filter { $0 > notify.value }.min()
    let first = AttributeHandle(rawValue: notify.value.rawValue + 1)
    let last = next.map { AttributeHandle(rawValue: $0.rawValue - 1) } ?? range.last
    guard first <= last else { return .failed("its notifications cannot be turned on") }
    if first == last { return subscribe(at: first) }
    state = .configuration
    return .procedure(.discoverDescriptors(AttributeRange(first, last), wanted: Self.configuration))
  }

  private mutating func subscribe(at handle: AttributeHandle) -> Step {
    state = .subscribing
    return .procedure(.write(handle, [0x01, 0x00]))
  }

  /// Client Characteristic Configuration.
  private static let configuration = BluetoothUUID(0x2902)

  private static func text(of failure: GATTFailure) -> String {
    switch failure {
    case .refused(let code, let handle): "it refuses with 0x\([code.rawValue].hex) at \(handle)"
    case .badAnswer(let rule): "its answer is wrong: \(rule)"
    case .timedOut: "it does not answer"
    case .linkLost: "the link was lost"
    }
  }
}
