public import Basics

extension Record {
  /// Something that was done, seen or found, at a time.
  public struct Event: Hashable, Sendable {
    /// What it is: the key that it is known by.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// The tester gave a stimulus.
      case stimulus
      /// The tester brought a fault about.
      case fault
      /// The tester lets time pass: an interval, or until something.
      case wait
      /// The scenario expects something, in words.
      case expect
      /// The scenario says something.
      case note
      /// The device showed a status.
      case status
      /// It showed an effect.
      case effect
      /// It reported a value.
      case reading
      /// It refused a stimulus.
      case refused
      /// It broke a rule of its protocol, or has a habit that devices of its kind are known for.
      case violation
      /// The tester's own end saw something happen.
      case event
      /// The model holds other statuses possible than before.
      case model
      /// There is trouble in the lab.
      case lab
      /// The lab says something: how a transport was brought back, why a lock was left as it is.
      case diagnostic
    }

    /// When, since the start of the case; zero outside of any.
    public var time: Instant
    /// The number of the step, where one starts.
    public var step: Int?
    /// The line of the scenario.
    public var line: Int?
    /// What it is.
    public var kind: Kind
    /// The name or the words that stand behind the kind; empty with ``Kind/model``.
    public var text: String
    /// The statuses that the model holds possible from now on.
    public var statuses: [String] = []
    /// The arguments of a stimulus.
    public var arguments: [JSON.Member] = []
    /// The value of a fault or of a reading.
    public var value: JSON?
    /// At which attempt there was trouble, from 1.
    public var attempt: Int?
    /// What else there is to say of a rule that was broken, or of what was seen.
    public var breach = Breach()

    /// Something happened.
    public init(_ kind: Kind, _ text: String, at time: Instant) {
      (self.kind, self.text, self.time) = (kind, text, time)
    }

    /// What is said beside the comparison.
    public var diagnostic: String? { isDiagnostic ? breach.quirk ?? text : nil }

    /// Whether it is said beside the comparison: by the lab, or of a habit that devices of this kind are known for.
    public var isDiagnostic: Bool { kind == .diagnostic || breach.quirk != nil }
  }

  /// What is said of a rule of its protocol that a device broke, beside the rule's name.
  public struct Breach: Hashable, Sendable {
    /// With what of the protocol it was broken.
    public var subject: String?
    /// What was wrong.
    public var detail: String?
    /// The packet in hexadecimal.
    public var packet: String?
    /// Who sent it.
    public var sender: Sender?
    /// The habit that devices of this kind are known for, where it is no more than that.
    public var quirk: String?

    /// Nothing is said.
    public init() {}

    /// The packet for a person, of many bytes only the first: `3 bytes of the device, 075200`; `nil` where there is none.
    public var packetWords: String? {
      packet.map { digits in
        let (count, maximum) = (digits.utf8.count / 2, 48)
        let bytes = digits.prefix(2 * maximum) + (count > maximum ? "…" : "")
        return (count == 1 ? "1 byte" : "\(count) bytes") + " of the \(sender?.rawValue ?? "device")"
          + (count == 0 ? "" : ", \(bytes)")
      }
    }

    /// Who sent a packet.
    public enum Sender: String, Hashable, Sendable, CaseIterable {
      case device
      case tester
    }
  }
}

extension Record.Event {
  /// The table of a kind.
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
    case .model: [time, .needed(kind.rawValue, \.statuses, .list(.text))]
    case .lab: [time, text, .usual("attempt", \.attempt, .count)]
    }
  }

  /// What it says beside its time and its place: the kind and what stands behind it first.
  public var content: [JSON.Member] {
    Self.fields(of: kind).filter { !["t", "step", "line"].contains($0.name) }.members(of: self)
  }
}

extension Record.Event.Kind {
  fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Record.Event {
  /// The line.
  var members: [JSON.Member] { Self.fields(of: kind).members(of: self) }

  /// Reads a line; `nil` where it is no event.
  ///
  /// - Throws: what is missing.
  init?(_ line: JSON) throws(RecordError) {
    guard let kind = Kind.allCases.first(where: { line[$0.rawValue] != nil }) else { return nil }
    self.init(kind, "", at: .zero)
    try Self.fields(of: kind).read(line, into: &self, "an event")
  }

  /// The JSON Schema of each kind.
  static var shapes: [JSON] { Kind.allCases.map { Shape.object(fields(of: $0)) } }
}

extension Record.Event {
  /// What a wait says that lasts until nothing is awaited.
  public static let settled = "settled"
  /// What a wait says that lasts until something is shown.
  public static let next = "next"
}
