import Conformance
public import Basics

/// The state of a lab's coordinator: its places and reservations.
public struct LabState: Equatable, Sendable {
  /// The places, sorted by name.
  public var places: [LabPlace]
  /// The reservations of all users.
  public var reservations: [LabReservation]

  /// Reads the state from our Python program's output; `nil` if it cannot be parsed.
  public init?(_ json: JSON) {
    guard let places = all(json["places"], LabPlace.init),
      let reservations = all(json["reservations"], LabReservation.init)
    else { return nil }
    (self.places, self.reservations) = (places, reservations)
  }
}

/// A place in a lab: a lock, and the transport to it.
public struct LabPlace: Equatable, Sendable {
  /// The place's name.
  public var name: String
  /// The place's tags.
  public var tags: [LabTag] = []
  /// Its current holder, as `HOST/USER`; `nil` while it is free.
  public var holder: String?
  /// The holder's resources whose exporter has disappeared, as `EXPORTER/GROUP/CLASS/NAME`.
  public var orphans: [String] = []
  /// The holder's resources; while the place is free, those that exporters offer for it.
  public var resources: [LabResource] = []

  /// The value of a tag.
  public func tag(_ key: String) -> String? { tags.first { $0.key == key }?.value }

  /// Whether it has all of some tags. Its name counts as a tag, as in a reservation.
  public func has(_ wanted: [LabTag]) -> Bool {
    wanted.allSatisfy { tags.contains($0) || $0.key == "name" && $0.value == name }
  }
}

extension LabPlace {
  init?(_ json: JSON) {
    guard let name = json["name"]?.string, case .mapping(let tags)? = json["tags"],
      let orphans = json["orphans"]?.strings, let resources = all(json["resources"], LabResource.init)
    else { return nil }
    self.name = name
    self.tags = tags.compactMap { LabTag("\($0.name)=\($0.value.words)") }
    holder = json["holder"]?.string
    (self.orphans, self.resources) = (orphans, resources)
  }

  /// Why a user who acquired the place no longer holds it; `nil` if the user still does.
  public func loss(for owner: String) -> String? {
    switch holder {
    case nil:
      "the coordinator no longer knows a holder of the place \(name): it was restarted, or the place "
        + "was released"
    case owner?:
      orphans.isEmpty
        ? nil
        : "the exporter of the place \(name) went away, and with it \(orphans.joined(separator: ", "))"
    case let other?: "the place \(name) is held by \(other) now"
    }
  }

  /// The transport to a controller that an exporter of the lab offers, as for `--transport`; `nil` without one.
  ///
  /// | resource | transport |
  /// | --- | --- |
  /// | `LockstepTransport: {transport: TEXT}` | the text |
  /// | `NetworkService: {address: HOST, port: PORT}`, but for the port of SSH | `tcp-client:HOST:PORT` |
  /// | `NetworkSerialPort` with the protocol `raw`: a serial port that the exporter serves | `tcp-client:HOST:PORT` |
  public var offeredTransport: String? {
    for name in ["LockstepTransport", "NetworkService", "NetworkSerialPort"] {
      for resource in resources where resource.name == name {
        if let transport = resource.transport { return transport }
      }
    }
    return nil
  }
}

extension LabPlace {
  /// Why the place offers no transport although it has a serial port; `nil` otherwise.
  ///
  /// labgrid's exporter serves a port of its own machine by RFC 2217, which mixes Telnet commands with the data.
  public var unusablePort: String? {
    guard offeredTransport == nil, let port = resources.first(where: { $0.name == "NetworkSerialPort" })
    else {
      return nil
    }
    return
      "the place \(name) has a serial port with the protocol \(port.text("protocol") ?? "unknown"), and only raw is "
      + "a way to a controller: export it as a NetworkSerialPort with 'protocol: raw', or name another way with --transport"
  }
}

/// A resource that an exporter offers for a place, such as a port.
public struct LabResource: Equatable, Sendable {
  /// The name of its labgrid class.
  public var name: String
  /// Its parameters.
  public var parameters: JSON

  init?(_ json: JSON) {
    guard let name = json["class"]?.string, let parameters = json["parameters"] else { return nil }
    (self.name, self.parameters) = (name, parameters)
  }

  fileprivate var transport: String? {
    switch name {
    case "LockstepTransport": text("transport")
    case "NetworkService": text("port") == "22" ? nil : tcp("address")
    default: text("protocol") == "raw" ? tcp("host") : nil
    }
  }

  fileprivate func text(_ key: String) -> String? {
    guard let value = parameters[key], value != .null else { return nil }
    return value.words.isEmpty ? nil : value.words
  }

  private func tcp(_ key: String) -> String? {
    guard let host = text(key), let port = text("port") else { return nil }
    // In labgrid an address may name the interface through which it is reached; that is not part of the host.
    let plain = host.prefix { $0 != "%" }
    return "tcp-client:" + (plain.contains(":") ? "[\(plain)]" : String(plain)) + ":\(port)"
  }
}

/// A reservation of a place.
public struct LabReservation: Equatable, Sendable {
  /// The state of a reservation, as labgrid names it.
  public enum State: String, Sendable {
    case waiting, allocated, acquired, expired, invalid
  }

  /// The owner, as `HOST/USER`.
  public var owner: String
  /// The state of the reservation.
  public var state: State
  /// The allocated place.
  public var place: String?

  init?(_ json: JSON) {
    guard let owner = json["owner"]?.string, let state = json["state"]?.string.flatMap(State.init(rawValue:))
    else { return nil }
    (self.owner, self.state, place) = (owner, state, json["place"]?.string)
  }
}

/// The values of a list; `nil` unless each one is valid.
private func all<Value>(_ json: JSON?, _ read: (JSON) -> Value?) -> [Value]? {
  guard let elements = json?.elements else { return nil }
  let values = elements.compactMap(read)
  return values.count == elements.count ? values : nil
}
