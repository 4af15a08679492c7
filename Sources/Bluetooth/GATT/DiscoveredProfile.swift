/// An attribute of a server: the declaration of a service, the value of a characteristic, a descriptor, or an
/// unknown attribute at a handle.
public enum DiscoveredAttribute: Hashable, Sendable {
  case service(DiscoveredService)
  case characteristic(DiscoveredCharacteristic, in: BluetoothUUID)
  /// A descriptor, and the characteristic that it describes.
  case descriptor(DiscoveredDescriptor, of: DiscoveredCharacteristic)
  case unknown(AttributeHandle)

  /// The handle of the attribute.
  public var handle: AttributeHandle {
    switch self {
    case .service(let service): service.range.first
    case .characteristic(let characteristic, _): characteristic.value
    case .descriptor(let descriptor, _): descriptor.handle
    case .unknown(let handle): handle
    }
  }

  /// The type of the attribute, if known.
  public var uuid: BluetoothUUID? {
    switch self {
    case .service(let service): service.uuid
    case .characteristic(let characteristic, _): characteristic.uuid
    case .descriptor(let descriptor, _): descriptor.uuid
    case .unknown: nil
    }
  }
}

extension DiscoveredAttribute: CustomStringConvertible {
  /// The handle, the UUID and its name: `0x0003 (2a00, Device Name)`.
  public var description: String {
    guard let uuid else { return "\(handle)" }
    return "\(handle) (\(uuid)" + (uuid.assignedName.map { ", \($0)" } ?? "") + ")"
  }
}

/// The discovered attributes of a server: its primary services with their characteristics and descriptors, in the
/// order of their handles.
public struct DiscoveredProfile: Hashable, Sendable {
  /// Everything, each service before its characteristics and each of these before its descriptors.
  public private(set) var attributes: [DiscoveredAttribute]

  /// Makes a profile.
  public init(_ attributes: [DiscoveredAttribute] = []) { self.attributes = attributes }

  /// The services.
  public var services: [DiscoveredService] {
    attributes.compactMap { if case .service(let service) = $0 { service } else { nil } }
  }

  /// The characteristics.
  public var characteristics: [DiscoveredCharacteristic] {
    attributes.compactMap { if case .characteristic(let found, _) = $0 { found } else { nil } }
  }

  /// The characteristic whose value has a handle.
  public func characteristic(at value: AttributeHandle) -> DiscoveredCharacteristic? {
    for case .characteristic(let found, _) in attributes where found.value == value { return found }
    return nil
  }

  /// The characteristics of a service.
  public func characteristics(of service: DiscoveredService) -> [DiscoveredCharacteristic] {
    characteristics.filter { service.range.first <= $0.value && $0.value <= service.range.last }
  }

  /// The handles of a characteristic's descriptors; `nil` if there is no room for any.
  public func descriptorRange(of characteristic: DiscoveredCharacteristic) -> AttributeRange? {
    guard
      let service = services.first(where: {
        $0.range.first <= characteristic.value && characteristic.value <= $0.range.last
      })
    else { return nil }
    return characteristic.descriptors(before: characteristics(of: service), in: service)
  }

  /// The attribute at a handle, whether or not it was discovered.
  public func attribute(at handle: AttributeHandle) -> DiscoveredAttribute {
    attributes.first { $0.handle == handle } ?? .unknown(handle)
  }

  /// The handle at which clients subscribe to a characteristic; `nil` if they cannot.
  public func configuration(of characteristic: DiscoveredCharacteristic) -> AttributeHandle? {
    for case .descriptor(let descriptor, characteristic) in attributes
    where descriptor.uuid == .clientConfiguration { return descriptor.handle }
    return nil
  }
}

/// The parts of a server's profile to discover.
public struct ProfileQuery: Hashable, Sendable {
  /// A query for nothing: the user knows all handles.
  public static var nothing: ProfileQuery {
    var query = ProfileQuery()
    query.discoversNothing = true
    return query
  }

  private(set) var discoversNothing = false
  /// The types of services to discover; empty for all.
  public var services: [BluetoothUUID]
  /// The characteristics after which the discovery of a service ends; empty for all.
  public var characteristics: [BluetoothUUID]
  /// Whether the first service of each type is enough, which saves an exchange.
  public var firstOfEach: Bool
  /// Whether to discover descriptors, too.
  public var descriptors: Bool
  /// Whether to request a larger MTU first. A server may refuse it.
  public var exchangesMTU: Bool

  /// Makes a query for everything by default.
  public init(
    services: [BluetoothUUID] = [], characteristics: [BluetoothUUID] = [], firstOfEach: Bool = false,
    descriptors: Bool = true, exchangesMTU: Bool = false
  ) {
    self.services = services
    self.characteristics = characteristics
    self.firstOfEach = firstOfEach
    self.descriptors = descriptors
    self.exchangesMTU = exchangesMTU
  }
}

/// The discovery of a server's profile, one procedure after another (Core 5.4, Vol 3 Part G §4.3.1, §4.4.1,
/// §4.4.2, §4.6.1, §4.7.1).
///
///     [MTU] ──▶ services ──▶ characteristics of each ──▶ [descriptors of each] ──▶ done
///
/// Parts of a service that the server refuses to show are skipped, and reported; without a list of services
/// the discovery fails.
public struct ProfileDiscovery: Sendable {
  private enum Question: Sendable {
    case mtu
    /// The services of a type, or all.
    case services(BluetoothUUID?)
    case characteristics(DiscoveredService)
    case descriptors(DiscoveredCharacteristic, AttributeRange)
  }

  private let query: ProfileQuery
  private var question: Question?
  /// The next questions, in order.
  private var rest: ArraySlice<Question> = []
  private var found: [DiscoveredAttribute] = []
  /// The refused parts, one sentence each.
  public private(set) var gaps: [String] = []

  /// Makes a discovery at its beginning.
  public init(_ query: ProfileQuery = ProfileQuery()) {
    self.query = query
    let services: [Question] =
      query.services.isEmpty ? [.services(nil)] : query.services.map { .services($0) }
    rest = query.discoversNothing ? [] : (query.exchangesMTU ? [.mtu] + services : services)[...]
    question = rest.popFirst()
  }

  /// The next procedure; `nil` at the end.
  public var procedure: GATTProcedure? {
    switch question {
    case .mtu: .exchangeMTU
    case .services(nil): .discoverAllServices
    case .services(let uuid?): query.firstOfEach ? .findService(uuid) : .discoverServices(uuid)
    case .characteristics(let service):
      .discoverCharacteristics(service.range, wanted: query.characteristics)
    case .descriptors(_, let range): .discoverDescriptors(range, wanted: nil)
    case nil: nil
    }
  }

  /// The attributes discovered so far.
  public var profile: DiscoveredProfile {
    DiscoveredProfile(found.sorted { $0.sortingHandle < $1.sortingHandle })
  }

  /// Receives the result of the procedure.
  ///
  /// - Throws: why the discovery must end.
  public mutating func take(_ result: Result<GATTResult, GATTFailure>) throws(GATTFailure) {
    switch (question, result) {
    // A server may refuse a larger MTU.
    case (.mtu, .success(.mtu)), (.mtu, .failure(.refused)): break
    case (.services, .success(.services(let services))):
      found += services.map { .service($0) }
      rest += services.map { .characteristics($0) }
    case (.characteristics(let service), .success(.characteristics(let list))):
      found += list.map { .characteristic($0, in: service.uuid) }
      if query.descriptors { rest = (descriptorQuestions(list, service) + rest)[...] }
    case (.descriptors(let characteristic, _), .success(.descriptors(let list))):
      found += list.map { .descriptor($0, of: characteristic) }
    case (.characteristics(let service), .failure(let failure)) where failure.endsNothing:
      gaps.append("the characteristics of the service \(service.uuid): \(failure)")
    case (.descriptors(let characteristic, _), .failure(let failure)) where failure.endsNothing:
      gaps.append("the descriptors of \(characteristic.value): \(failure)")
    case (_, .failure(let failure)):
      throw failure
    case (_, .success):
      throw .badAnswer("something that was not asked for")
    }
    question = rest.popFirst()
  }

  private func descriptorQuestions(
    _ list: [DiscoveredCharacteristic], _ service: DiscoveredService
  ) -> [Question] {
    list.compactMap { characteristic in
      characteristic.descriptors(before: list, in: service).map { .descriptors(characteristic, $0) }
    }
  }
}

extension DiscoveredCharacteristic {
  /// The handles of the descriptors: between the value and the next declaration of the service (Vol 3 Part G
  /// §3.3).
  ///
  /// - Parameter others: all discovered characteristics of the service.
  /// - Returns: `nil` if there is no room for any.
  fileprivate func descriptors(
    before others: [DiscoveredCharacteristic], in service: DiscoveredService
  ) -> AttributeRange? {
    let following = others.map(\.declaration).filter { $0 > value }.min()
    let last = following.map { AttributeHandle(rawValue: $0.rawValue - 1) } ?? service.range.last
    guard value < last else { return nil }
    return AttributeRange(AttributeHandle(rawValue: value.rawValue + 1), last)
  }
}

extension DiscoveredAttribute {
  /// The handle for sorting: that of a characteristic's declaration.
  fileprivate var sortingHandle: AttributeHandle {
    if case .characteristic(let characteristic, _) = self { characteristic.declaration } else { handle }
  }
}

extension GATTFailure {
  /// Whether another procedure may follow the failure.
  fileprivate var endsNothing: Bool {
    switch self {
    case .refused, .badAnswer: true
    case .timedOut, .linkLost: false
    }
  }
}
