import Bluetooth
import Basics

extension DiscoveredProfile {
  /// Returns the attribute that a user names to read or write.
  ///
  /// - Throws: If there is none or more than one, with the possible names.
  func attribute(_ name: AttributeName) throws(GATTMistake) -> DiscoveredAttribute {
    switch name {
    case .handle(let handle): return attribute(at: handle)
    case .uuid(let uuid):
      let all = attributes.filter { $0.uuid == uuid }
      let values = all.filter { if case .service = $0 { false } else { true } }
      if let service = all.first, values.isEmpty {
        let inside = characteristics.filter { $0.isInside(service, of: self) }.map { Self.text(of: $0) }
        throw GATTMistake("\(name) is a service: name what is in it, \(listed(inside))")
      }
      let others = attributes.filter { if case .service = $0 { false } else { true } }
      return try only(values, name, of: others) { $0.uuid }
    }
  }

  /// Returns the characteristic that a user names to subscribe to: by its value, its declaration, or its configuration
  /// descriptor.
  func characteristic(_ name: AttributeName) throws(GATTMistake) -> DiscoveredAttribute {
    let all = attributes.filter { if case .characteristic = $0 { true } else { false } }
    let subscribable = all.filter { $0.subscription != [] }
    let found =
      switch name {
      case .uuid(let uuid): all.filter { $0.uuid == uuid }
      case .handle(let handle):
        all.filter { attribute in
          guard case .characteristic(let it, _) = attribute else { return false }
          return [it.value, it.declaration, configuration(of: it)].contains(handle)
        }
      }
    // Of several with one UUID, only one may support subscriptions.
    let able = found.filter { $0.subscription != [] }
    let chosen = try only(able.count == 1 ? able : found, name, of: subscribable) { $0.uuid }
    guard case .characteristic(let it, _) = chosen, chosen.subscription != [] else {
      throw GATTMistake(
        "\(chosen) offers neither notify nor indicate; those that do are \(listed(subscribable.map { "\($0)" }))"
      )
    }
    guard configuration(of: it) != nil else {
      throw GATTMistake("\(chosen) has no descriptor 2902, by which it would be subscribed to")
    }
    return chosen
  }

  private func only(
    _ found: [DiscoveredAttribute], _ name: AttributeName, of all: [DiscoveredAttribute],
    _ uuid: (DiscoveredAttribute) -> BluetoothUUID?
  ) throws(GATTMistake) -> DiscoveredAttribute {
    if found.count == 1 { return found[0] }
    guard found.isEmpty else {
      let handles = found.map { "\($0.handle)" }.joined(separator: ", ")
      throw GATTMistake("\(name) exists \(found.count) times: name one by its handle, \(handles)")
    }
    let uuids = all.compactMap(uuid).map { "\($0)" }
    if case .uuid(let wanted) = name, let nearest = nearestName(to: "\(wanted)", in: uuids) {
      throw GATTMistake("the device has no \(name): did you mean \(nearest)?")
    }
    throw GATTMistake("the device has no \(name); there is \(listed(all.map { "\($0)" }))")
  }

  private static func text(of characteristic: DiscoveredCharacteristic) -> String {
    "\(DiscoveredAttribute.characteristic(characteristic, in: characteristic.uuid))"
  }
}

/// Returns the first elements of a list, and the number of those left out.
private func listed(_ all: [String]) -> String {
  guard !all.isEmpty else { return "none" }
  let shown = all.prefix(12).joined(separator: ", ")
  return all.count > 12 ? shown + " and \(all.count - 12) more" : shown
}

extension DiscoveredCharacteristic {
  fileprivate func isInside(_ attribute: DiscoveredAttribute, of profile: DiscoveredProfile) -> Bool {
    guard case .service(let service) = attribute else { return false }
    return (service.range.first...service.range.last).contains(declaration)
  }
}

extension DiscoveredAttribute {
  /// How its value can be subscribed to: notifications if it offers them, else indications, else not at all.
  var subscription: Subscription {
    guard case .characteristic(let it, _) = self else { return [] }
    if it.properties.contains(.notify) { return .notifications }
    return it.properties.contains(.indicate) ? .indications : []
  }

  /// The properties of a characteristic; `nil` for other attributes.
  var properties: CharacteristicProperties? {
    if case .characteristic(let it, _) = self { it.properties } else { nil }
  }
}
