public import Documents

/// A place of a lab, as labgrid's own client shows it: a lock, and the way to it.
public struct LabPlace: Equatable, Sendable {
  /// What it is called.
  public var name: String
  /// What is said of it.
  public var tags: [LabTag] = []
  /// Who holds it, as `HOST/USER`; `nil` while nobody does.
  public var holder: String?
  /// The resources that its holder had and that are gone with their exporter, as `EXPORTER/GROUP/CLASS/NAME`.
  public var orphans: [String] = []

  /// The value of a tag.
  public func tag(_ key: String) -> String? { tags.first { $0.key == key }?.value }

  /// Whether it has all of some tags. Its name counts as one, as it does for a reservation.
  public func has(_ wanted: [LabTag]) -> Bool {
    wanted.allSatisfy { tags.contains($0) || $0.key == "name" && $0.value == name }
  }
}

extension LabPlace {
  /// Reads what `labgrid-client show`, or `labgrid-client --verbose places`, prints.
  public static func read(_ lines: [String]) -> [LabPlace] {
    var places: [LabPlace] = []
    for line in lines {
      if let name = quoted(line, after: "Place '") {
        places.append(LabPlace(name: name))
      } else if let last = places.indices.last {
        places[last].take(line)
      }
    }
    return places
  }

  private mutating func take(_ line: String) {
    if line.hasPrefix("Orphaned resource ") {
      guard let start = line.lastIndex(of: "("), line.hasSuffix(")") else { return }
      orphans.append(String(line[line.index(after: start)...].dropLast()))
    }
    let text = line.drop { $0 == " " }
    func value(_ key: String) -> String? {
      text.hasPrefix(key + ": ") ? String(text.dropFirst(key.utf8.count + 2)) : nil
    }
    if let list = value("tags") {
      tags = list.split(separator: ",").compactMap { LabTag(String($0.drop { $0 == " " })) }
    } else if let holder = value("acquired") {
      self.holder = holder == "None" ? nil : holder
    }
  }

  /// Why somebody who acquired the place has it no longer; `nil` while he has.
  public func loss(for owner: String) -> String? {
    switch holder {
    case nil:
      "the coordinator knows no holder of the place \(name) any more: it was restarted, or somebody released it"
    case owner?:
      orphans.isEmpty
        ? nil
        : "the exporter of the place \(name) went away, and with it \(orphans.joined(separator: ", "))"
    case let other?: "the place \(name) is held by \(other) now"
    }
  }
}

/// A reservation of a place, as labgrid's own client shows it.
public struct LabReservation: Equatable, Sendable {
  /// What it is called.
  public var token: String
  /// Whose it is, as `HOST/USER`.
  public var owner = ""
  /// `waiting`, `allocated`, `acquired`, `expired` or `invalid`.
  public var state = ""
  /// The place that it got.
  public var place: String?

  /// Reads what `labgrid-client reservations` or `labgrid-client wait` prints: of one that is shown several times the
  /// last counts.
  public static func read(_ lines: [String]) -> [LabReservation] {
    var all: [LabReservation] = []
    var current = LabReservation(token: "")
    var section = ""
    func close() {
      guard !current.token.isEmpty else { return }
      all.removeAll { $0.token == current.token }
      all.append(current)
    }
    for line in lines {
      let text = line.drop { $0 == " " }
      let colon = text.firstIndex(of: ":") ?? text.endIndex
      let key = String(text[..<colon])
      let value = String(text[colon...].dropFirst(2))
      if let token = quoted(line, after: "Reservation '") {
        close()
        current = LabReservation(token: token)
        section = ""
        continue
      }
      switch key {
      case "owner":
        // What 'wait' prints has no head.
        if !current.owner.isEmpty {
          close()
          current = LabReservation(token: "")
        }
        current.owner = value
      case "token": current.token = value
      case "state": current.state = value
      case "main" where section == "allocations": current.place = value
      case "filters", "allocations": section = key
      case "prio", "created", "timeout": section = ""
      default: break
      }
    }
    close()
    return all
  }
}

/// What stands between a word and `':` at the end of a line.
private func quoted(_ line: String, after head: String) -> String? {
  guard line.hasPrefix(head), line.hasSuffix("':") else { return nil }
  return String(line.dropFirst(head.count).dropLast(2))
}

/// The way to a controller that an exporter of the lab offers.
public enum LabTransport {
  /// Reads the transport from what `labgrid-client env` prints, as `--transport` takes it; `nil` where no resource is one.
  ///
  /// | resource | transport |
  /// | --- | --- |
  /// | `LockstepTransport: {transport: TEXT}` | the text |
  /// | `NetworkService: {address: HOST, port: PORT}`, but for the port of SSH | `tcp-client:HOST:PORT` |
  /// | `NetworkSerialPort` with the protocol `raw`: a serial port that the exporter serves | `tcp-client:HOST:PORT` |
  public static func read(_ lines: [String]) throws(DocumentError) -> String? {
    let text = lines.joined(separator: "\n") + "\n"
    let document = try Document(text: text, name: "labgrid-client env")
    let targets = document.root["targets"]?.entries ?? []
    let resources = targets.flatMap { $0.value["resources"]?.members ?? [] }.flatMap { $0.entries ?? [] }
    for name in ["LockstepTransport", "NetworkService", "NetworkSerialPort"] {
      for entry in resources where entry.key.text == name {
        if let transport = transport(name, entry.value) { return transport }
      }
    }
    return nil
  }

  private static func transport(_ name: String, _ arguments: Node) -> String? {
    func text(_ key: String) -> String? {
      arguments[key]?.text.flatMap { $0.isEmpty || $0 == "null" ? nil : $0 }
    }
    switch name {
    case "LockstepTransport": return text("transport")
    case "NetworkService": return text("port") == "22" ? nil : tcp(text("address"), text("port"))
    default: return text("protocol") == "raw" ? tcp(text("host"), text("port")) : nil
    }
  }

  private static func tcp(_ host: String?, _ port: String?) -> String? {
    guard let host, let port else { return nil }
    // An address may name the interface through which it is reached: labgrid's way of saying so is no part of it.
    let plain = host.prefix { $0 != "%" }
    return "tcp-client:" + (plain.contains(":") ? "[\(plain)]" : String(plain)) + ":\(port)"
  }
}
