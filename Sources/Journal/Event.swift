public import Basics

extension Record {
  /// Something that was done, observed or found at a certain time.
  public struct Event: Hashable, Sendable {
    /// The kind of an event, whose raw value is the key in the line.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// The tester sent a stimulus.
      case stimulus
      /// The tester injected a fault.
      case fault
      /// The tester lets time pass: an interval, or until a condition holds.
      case wait
      /// The scenario expects something; the text describes it.
      case expect
      /// A note of the scenario.
      case note
      /// The device showed a status.
      case status
      /// The device showed an effect.
      case effect
      /// The device reported a value.
      case reading
      /// The device refused a stimulus.
      case refused
      /// The device violated a rule of its protocol, or showed a tolerated deviation of its kind.
      case violation
      /// The tester's own end of the link observed an event.
      case event
      /// The set of statuses that the model considers possible has changed.
      case model
      /// A lab fault.
      case lab
      /// A message about the lab, such as how a transport was recovered or why a lock was left as it is.
      case diagnostic
    }

    /// The time since the start of the case; zero outside cases.
    public var time: Instant
    /// The number of the step, in the first event of the step.
    public var step: Int?
    /// The line of the step in the scenario.
    public var line: Int?
    /// The kind of the event.
    public var kind: Kind
    /// The value of the kind's key: a name or a text; empty for ``Kind/model``.
    public var text: String
    /// The statuses that the model considers possible from now on.
    public var statuses: [String] = []
    /// The variables of the machine that may have other values from now on; all of them in the first such event of a case.
    public var variables: [Variable] = []
    /// The arguments of a stimulus.
    public var arguments: [JSON.Member] = []
    /// The value of a fault or of a reading.
    public var value: JSON?
    /// The number of the attempt that had the lab fault, from 1.
    public var attempt: Int?
    /// Details of a violated rule or of an observed event.
    public var breach = Breach()

    /// Creates an event.
    public init(_ kind: Kind, _ text: String, at time: Instant) {
      (self.kind, self.text, self.time) = (kind, text, time)
    }

    /// The diagnostic text, if this is a diagnostic.
    public var diagnostic: String? { isDiagnostic ? breach.quirk ?? text : nil }

    /// Whether this is a diagnostic, which is not compared: a message about the lab, or a tolerated deviation.
    public var isDiagnostic: Bool { kind == .diagnostic || breach.quirk != nil }
  }

  /// What the model holds possible of a variable of the machine.
  public struct Variable: Hashable, Sendable {
    /// The form of a value that is not known, or of a part of one. What has no value is `null`.
    public static let unknown: JSON = ["unknown": true]

    /// The name of the variable.
    public var name: String
    /// The values that it may have, each once.
    public var values: [JSON]
    /// Whether it may have more values than these.
    public var isMore = false

    /// Creates a variable with the values that it may have.
    public init(_ name: String, _ values: [JSON]) { (self.name, self.values) = (name, values) }
  }

  /// Details of a violated rule of a device's protocol.
  public struct Breach: Hashable, Sendable {
    /// The element of the protocol that was violated.
    public var subject: String?
    /// What the sender did wrong, in words.
    public var detail: String?
    /// The packet in hexadecimal.
    public var packet: String?
    /// The sender of the packet.
    public var sender: Sender?
    /// Why the violation is tolerated in devices of this kind, if it is.
    public var quirk: String?

    /// Creates a breach without details.
    public init() {}

    /// The packet for people, truncated if it is long: `3 bytes of the device, 075200`; `nil` if there is no packet.
    public var packetWords: String? {
      packet.map { digits in
        let (count, maximum) = (digits.utf8.count / 2, 48)
        let bytes = digits.prefix(2 * maximum) + (count > maximum ? "…" : "")
        return (count == 1 ? "1 byte" : "\(count) bytes") + " of the \(sender?.rawValue ?? "device")"
          + (count == 0 ? "" : ", \(bytes)")
      }
    }

    /// The sender of a packet.
    public enum Sender: String, Hashable, Sendable, CaseIterable {
      case device
      case tester
    }
  }
}

extension Record.Event {
  /// Returns the table of a kind.
  static func fields(of kind: Kind) -> [Field<Self>] { tables[kind.index] }

  private static let tables: [[Field<Self>]] = Kind.allCases.map { kind in
    let mark: [Field<Self>] = [.usual("step", \.step, .count), .usual("line", \.line, .count)]
    let time: Field<Self> = .needed("t", \.time, .time)
    let text: Field<Self> = .needed(kind.rawValue, \.text, .text)
    let detail: Field<Self> = .extra("detail", \.breach.detail, .text)
    return switch kind {
    case .stimulus:
      [time] + mark + [text, .extra("arguments", \.arguments, .members(of: Shape.value), besides: [])]
    case .fault: [time] + mark + [text, .usual("value", \.value, .value)]
    case .wait, .expect, .note: [time] + mark + [text]
    case .status, .effect, .refused, .diagnostic: [time, text]
    case .reading: [time, text, .usual("value", \.value, .value)]
    case .violation:
      [time, text] + [
        .extra("of", \.breach.subject, .text), detail, .extra("packet", \.breach.packet, .text),
        .extra("from", \.breach.sender, .words()), .extra("quirk", \.breach.quirk, .text),
      ]
    case .event: [time, text, detail]
    case .model:
      [
        time, .needed(kind.rawValue, \.statuses, .list(.text)),
        .list("variables", \.variables, .object()),
      ]
    case .lab: [time, text, .usual("attempt", \.attempt, .count)]
    }
  }

  /// All members except time, step and line; the kind with its text comes first.
  public var content: [JSON.Member] {
    Self.fields(of: kind).filter { !["t", "step", "line"].contains($0.name) }.members(of: self)
  }
}

extension Record.Variable: Recorded {
  public static let blank = Record.Variable("", [])
  public static let noun = "a variable"
  public static let fields: [Field<Self>] = [
    .needed("name", \.name, .text),
    .needed(
      "values", \.values,
      .list(.json(["type": ["string", "number", "boolean", "array", "object", "null"]]))),
    .mark("more", \.isMore),
  ]
}

extension Record.Event.Kind {
  fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Record.Event {
  /// The members of the line.
  var members: [JSON.Member] { Self.fields(of: kind).members(of: self) }

  /// Creates an event from a line; `nil` if the line is not an event.
  ///
  /// - Throws: Which key is missing.
  init?(_ line: JSON) throws(RecordError) {
    guard let kind = Kind.allCases.first(where: { line[$0.rawValue] != nil }) else { return nil }
    self.init(kind, "", at: .zero)
    try Self.fields(of: kind).read(line, into: &self, "an event")
  }

  /// The JSON Schema of each kind.
  static var shapes: [JSON] { Kind.allCases.map { Shape.object(fields(of: $0)) } }
}

extension Record.Event {
  /// The text of a wait that lasts until the model expects nothing more.
  public static let settled = "settled"
  /// The text of a wait that lasts until the device shows something.
  public static let next = "next"
}
