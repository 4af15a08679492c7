public import Bluetooth
public import Basics
public import Journal

/// A result of a session with a GATT server.
public enum GATTFinding: Hashable, Sendable {
  /// A procedure that may be refused.
  public enum Attempt: Hashable, Sendable {
    case agreeing
    case discovering
    case reading(DiscoveredAttribute)
    case writing(DiscoveredAttribute)
    case subscribing(DiscoveredAttribute)
    case unsubscribing(DiscoveredAttribute)
  }

  case connected(PeerAddress, mtu: Int)
  /// One line of the list of attributes; on request with the value, or the reason why it cannot be read.
  case attribute(DiscoveredAttribute, value: Result<[UInt8], GATTFailure>?)
  case value(DiscoveredAttribute, [UInt8])
  case written(DiscoveredAttribute, count: Int, isAcknowledged: Bool)
  /// The new subscription to a value.
  case subscription(DiscoveredAttribute, Subscription)
  /// A notification or an indication, with the time since the link came up.
  case notification(Interval, DiscoveredAttribute, [UInt8])
  case mtu(Int)
  case listening(Interval)
  case refused(Attempt, GATTFailure)
  /// An error in the user's input.
  case mistake(String)
  case remark(String)

  /// The audience of a finding.
  public enum Audience: Sendable {
    /// The requested data.
    case data
    /// Progress messages.
    case progress
    /// Problems, which are printed even in quiet mode.
    case problem
  }

  /// The audience of this finding.
  public var audience: Audience {
    switch self {
    case .attribute, .value, .notification, .mtu: .data
    case .connected, .written, .subscription, .listening, .remark: .progress
    case .refused, .mistake: .problem
    }
  }
}

/// The end of a session.
public enum GATTEnding: Hashable, Sendable {
  case done
  /// The device refused a procedure; the refusal was shown.
  case refused
  /// A stop was requested before the end.
  case interrupted
  /// The request is invalid; the sentence states how.
  case mistake(String)
  /// A lab fault: no device, or a lost transport; the sentence names it and the remedy.
  case fault(String)

  /// The exit status. A refusal counts as a divergence, since the device was expected to accept the request.
  public var status: CommandStatus {
    switch self {
    case .done: .agree
    case .refused: .divergence
    case .interrupted: .incomplete
    case .mistake: .usage
    case .fault: .labFault
    }
  }

  /// The line to print.
  public var words: String? {
    switch self {
    case .done, .refused: nil
    case .interrupted: "stopped before the end"
    case .mistake(let sentence), .fault(let sentence): sentence
    }
  }
}

// MARK: - As text

extension GATTFinding {
  /// The finding as a line for people.
  public var line: String {
    switch self {
    case .connected(let address, let mtu): "connected to \(address), MTU \(mtu)"
    case .attribute(let attribute, nil): attribute.line
    case .attribute(let attribute, .success(let value)?): attribute.line + "\n" + indented(shown(value))
    case .attribute(let attribute, .failure(let failure)?): attribute.line + "\n" + indented("\(failure)")
    case .value(let attribute, let value): "\(attribute)   \(shown(value))"
    case .written(let attribute, let count, let isAcknowledged):
      "wrote \(counted(count, "byte")) to \(attribute)" + (isAcknowledged ? "" : ", without response")
    case .subscription(let attribute, []): "unsubscribed from \(attribute)"
    case .subscription(let attribute, let kind): "subscribed to \(kind.text) of \(attribute)"
    case .notification(let time, let attribute, let value):
      "\(Instant.zero + time.wholeMilliseconds)   \(attribute)   \(shown(value))"
    case .mtu(let mtu): "MTU \(mtu): a write without response, or a notification, carries \(mtu - 3) bytes"
    case .listening(let time): "listening for \(time), or until Ctrl-C"
    case .refused(let attempt, let failure): "\(attempt.text): \(failure)" + attempt.remedy(for: failure)
    case .mistake(let sentence), .remark(let sentence): sentence
    }
  }

  private func indented(_ text: String) -> String { spaces(14) + text }

  private func shown(_ value: [UInt8]) -> String {
    value.isEmpty ? "empty" : value.hex + (text(of: value).map { "  \"\($0)\"" } ?? "")
  }
}

extension DiscoveredAttribute {
  fileprivate var line: String {
    let name = uuid.map { "\($0)" + ($0.assignedName.map { " (\($0))" } ?? "") } ?? ""
    return switch self {
    case .service(let service): "\(handle)  service \(name), up to \(service.range.last)"
    case .characteristic(let it, _): "\(handle)    characteristic \(name): \(it.properties)"
    case .descriptor: "\(handle)      descriptor \(name)"
    case .unknown: "\(handle)"
    }
  }
}

extension Subscription {
  fileprivate var text: String { contains(.notifications) ? "notifications" : "indications" }
}

extension GATTFinding.Attempt {
  fileprivate var text: String {
    switch self {
    case .agreeing: "agreeing on the MTU"
    case .discovering: "looking for services"
    case .reading(let attribute): "reading \(attribute)"
    case .writing(let attribute): "writing \(attribute)"
    case .subscribing(let attribute): "subscribing to \(attribute)"
    case .unsubscribing(let attribute): "unsubscribing from \(attribute)"
    }
  }

  fileprivate var attribute: DiscoveredAttribute? {
    switch self {
    case .agreeing, .discovering: nil
    case .reading(let it), .writing(let it), .subscribing(let it), .unsubscribing(let it): it
    }
  }

  /// Returns the remedy for a refusal, if there is one.
  fileprivate func remedy(for failure: GATTFailure) -> String {
    if failure == .timedOut { return "; nothing more may be asked on this link: connect again" }
    guard case .refused(let code, _) = failure else { return "" }
    switch (code, self) {
    case (.insufficientAuthentication, _), (.insufficientEncryption, _), (.insufficientAuthorization, _),
      (.encryptionKeySizeTooShort, _):
      return "; it is for paired clients, and nothing is paired here"
    case (.readNotPermitted, .reading(let attribute)), (.writeNotPermitted, .writing(let attribute)):
      return attribute.properties.map { "; it offers \($0)" } ?? ""
    case (.invalidHandle, _):
      return "; without an operation all handles are listed"
    case (_, .agreeing), (_, .discovering), (_, .reading), (_, .writing), (_, .subscribing),
      (_, .unsubscribing):
      return ""
    }
  }
}

/// Returns a value as text if all of it is printable. A trailing zero, which some devices send, is ignored.
private func text(of value: [UInt8]) -> String? {
  let bytes = value.last == 0 ? value.dropLast() : value[...]
  guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { return nil }
  let isPrintable = text.unicodeScalars.allSatisfy { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
  return isPrintable ? text : nil
}

// MARK: - As JSON

extension GATTFinding {
  /// The finding as an object for programs.
  public var json: JSON {
    switch self {
    case .connected(let address, let mtu):
      return ["event": "connected", "address": .text("\(address)"), "mtu": .integer(mtu)]
    case .attribute(let attribute, let value):
      return object(attribute.kind, attribute, isWhole: true, value)
    case .value(let attribute, let value): return object("read", attribute, .success(value))
    case .written(let attribute, let count, let isAcknowledged):
      return object(
        "written", attribute,
        members: [.init("bytes", .integer(count)), .init("acknowledged", .flag(isAcknowledged))])
    case .subscription(let attribute, let kind):
      return object(
        "subscription", attribute, members: [.init("to", kind == [] ? .null : .text(kind.text))])
    case .notification(let time, let attribute, let value):
      let time = JSON.Member("t", .text((Instant.zero + time).secondsText))
      return object("notification", attribute, members: [time], .success(value))
    case .mtu(let mtu): return ["event": "mtu", "mtu": .integer(mtu)]
    case .listening(let time): return ["event": "listening", "seconds": .decimal(time.seconds)]
    case .refused(let attempt, let failure):
      guard let attribute = attempt.attribute else {
        return .mapping([.init("event", "refused")] + members(of: .failure(failure)))
      }
      return object("refused", attribute, members: [.init("what", .text(attempt.text))], .failure(failure))
    case .mistake(let sentence): return ["event": "mistake", "text": .text(sentence)]
    case .remark(let sentence): return ["event": "remark", "text": .text(sentence)]
    }
  }

  private func object(
    _ event: String, _ attribute: DiscoveredAttribute, isWhole: Bool = false, members: [JSON.Member] = [],
    _ value: Result<[UInt8], GATTFailure>? = nil
  ) -> JSON {
    var all: [JSON.Member] = [.init("event", .text(event)), .init("handle", .text("\(attribute.handle)"))]
    if let uuid = attribute.uuid {
      all.append(.init("uuid", .text("\(uuid)")))
      if let name = uuid.assignedName { all.append(.init("name", .text(name))) }
    }
    return .mapping(
      all + (isWhole ? attribute.members : []) + members + (value.map(self.members(of:)) ?? []))
  }

  private func members(of value: Result<[UInt8], GATTFailure>) -> [JSON.Member] {
    switch value {
    case .success(let bytes):
      return [.init("value", .text(bytes.hex))] + (text(of: bytes).map { [.init("text", .text($0))] } ?? [])
    case .failure(let failure):
      let error = JSON.Member("error", .text("\(failure)"))
      guard case .refused(let code, _) = failure else { return [error] }
      return [error, .init("code", .integer(code.rawValue))]
    }
  }
}

extension DiscoveredAttribute {
  fileprivate var kind: String {
    switch self {
    case .service: "service"
    case .characteristic: "characteristic"
    case .descriptor: "descriptor"
    case .unknown: "attribute"
    }
  }

  /// The members of a list entry in addition to those of every attribute.
  fileprivate var members: [JSON.Member] {
    switch self {
    case .service(let service): [.init("last", .text("\(service.range.last)"))]
    case .characteristic(let it, let service):
      [
        .init("declaration", .text("\(it.declaration)")),
        .init("properties", .list(it.properties.names.map(JSON.text))), .init("service", .text("\(service)")),
      ]
    case .descriptor(_, let characteristic): [.init("of", .text("\(characteristic.value)"))]
    case .unknown: []
    }
  }
}
