import Controllers
public import Conformance
import Documents
public import Sesame
public import Basics

/// The specification of an emulated lock, as a user writes it: `sesame5?defect=deaf-unlock&loss=0.01`.
public struct EmulatedLockSpecification: Equatable, Sendable {
  /// The product.
  public var model: ProductModel
  /// The lock's options.
  public var options: LockOptions
  /// The lock's defects.
  public var defects: LockDefects
  /// The random faults between the lock and its client.
  public var channel: ChannelConditions
  /// The carrier of frames between them.
  public var link = LinkKind.direct
  /// Its role for the harness.
  public var role = LockRole.emulated
  /// Its condition before the first test; only for a lock that is driven as a real one.
  public var found = LockFound.locked

  /// Makes a specification.
  public init(
    _ model: ProductModel, options: LockOptions = LockOptions(), defects: LockDefects = [],
    channel: ChannelConditions = ChannelConditions()
  ) {
    self.model = model
    self.options = options
    self.defects = defects
    self.channel = channel
  }

  /// Reads the name of a lock and its settings: options, any number of `defect`, `as`, `found`, `link`, and the channel conditions:
  /// `loss`, `link-loss`, `burst-loss`, `burst-length` and `burst-gap`.
  public init(parsing name: String, settings: [(name: String, value: String)] = []) throws(LockOptionError) {
    guard let model = Self.names.first(where: { $0.name == name })?.model else {
      throw .unknownDevice(name, nearest: nearestName(to: name, in: Self.names.map(\.name)))
    }
    self.init(model)
    var link: LinkKind?
    for (name, value) in settings {
      switch name {
      case "as": role = try Self.value(value, of: name)
      case "found": found = try Self.value(value, of: name)
      case "defect": defects.insert(try LockDefect(named: value))
      case "loss": channel.loss = try Self.probability(value, of: name)
      case "link": link = try Self.value(value, of: name)
      case "link-loss": channel.linkLoss = try Self.probability(value, of: name)
      case "burst-loss": channel.burstLoss = try Self.probability(value, of: name)
      case "burst-length": channel.burstLength = try Self.burst(value, of: name)
      case "burst-gap": channel.burstGap = try Self.burst(value, of: name)
      default:
        do throws(LockOptionError) {
          try options.set(name, to: value)
        } catch .unknownName {
          throw .unknownName(name, nearest: nearestName(to: name, in: Self.settingNames))
        } catch {
          throw error
        }
        if let generation = LockOption.named(name)?.generation, generation != model.generation {
          throw .otherGeneration(name, of: generation)
        }
      }
    }
    guard role == .real || found == .locked else {
      throw .unknownValue(
        found.rawValue, of: "found", values: "another than locked with as=real only", nearest: nil)
    }
    // A real lock is on the air.
    if role == .real, link == .direct {
      throw .unknownValue("direct", of: "link", values: "radio, with as=real", nearest: nil)
    }
    self.link = link ?? (role == .real ? .radio : .direct)
    let names = settings.map(\.name)
    if let name = names.first(where: { $0.hasPrefix("burst-") }) {
      guard names.contains("burst-loss") else { throw .missing("burst-loss", for: name) }
      guard self.link == .radio else { throw .missing("link=radio", for: name) }
    }
  }

  /// The emulated locks, by the names that users type.
  public static let names: [(name: String, model: ProductModel)] = [
    ("sesame3", .sesame3), ("sesame4", .sesame4), ("sesame5", .sesame5), ("sesame5pro", .sesame5Pro),
  ]

  /// The settings of a lock.
  public static var settingNames: [String] {
    ["defect", "as", "found", "link", "loss", "link-loss", "burst-loss", "burst-length", "burst-gap"]
      + LockOption.all.map(\.name)
  }

  /// Throws if a start condition contradicts itself.
  public static func check(_ start: StartCondition) throws(LabFault) {
    guard start.flag("registered") == false, start.flag("configured") == true else { return }
    throw LabFault(
      .notPossible,
      "a lock without an owner has no positions, so that `configured` has no effect with `registered=no`: leave one of "
        + "them out")
  }

  private static func value<Value: RawRepresentable & CaseIterable>(
    _ text: String, of name: String
  ) throws(LockOptionError) -> Value where Value.RawValue == String {
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue)
      throw .unknownValue(
        text, of: name, values: names.joined(separator: ", "), nearest: nearestName(to: text, in: names))
    }
    return value
  }

  private static func burst(_ text: String, of name: String) throws(LockOptionError) -> Interval {
    guard let value = Interval(text: text), (.milliseconds(1) ... .seconds(3600)).contains(value) else {
      throw .unknownValue(text, of: name, values: "a time from 1 ms to 1 h, such as 250 ms", nearest: nil)
    }
    return value
  }

  private static func probability(_ text: String, of name: String) throws(LockOptionError) -> Double {
    guard let value = Double(text), (0...1).contains(value) else {
      throw .unknownValue(text, of: name, values: "a probability from 0 to 1", nearest: nil)
    }
    return value
  }
}

/// The carrier of frames between an emulated lock and its client.
public enum LinkKind: String, CaseIterable, Sendable {
  /// Memory, for millions of sessions: ``DirectLink``.
  case direct
  /// GATT over two hosts and two controllers on an emulated radio: ``RadioWorld``.
  case radio
}

/// The role of an emulated lock for the harness.
public enum LockRole: String, CaseIterable, Sendable {
  /// A lock that can be put into any condition, with a fixture.
  case emulated
  /// A lock on the air that keeps its state between tests, like a real one without a fixture; its motor
  /// wears.
  case real
}

/// The condition of a lock that is driven as a real one, before the first test.
public enum LockFound: String, CaseIterable, Sendable {
  /// It has no owner.
  case unregistered
  /// It has an owner, and its positions were never set.
  case unconfigured
  /// It has an owner and positions, and its bolt rests in one of the ranges, or in neither.
  case locked, unlocked, moved

  /// The start condition.
  public var condition: StartCondition {
    switch self {
    case .unregistered: StartCondition([Argument("registered", .flag(false))])
    case .unconfigured: StartCondition([Argument("configured", .flag(false))])
    case .locked, .unlocked, .moved: StartCondition([Argument("bolt", .text(rawValue))])
    }
  }
}

/// Random faults between a lock and its client.
public struct ChannelConditions: Equatable, Sendable {
  /// The probability that a packet is lost. A lost advertisement is missed; a packet on a link is sent again at the
  /// next connection event, and the link is lost if that fails for as long as its supervision timeout.
  public var loss = 0.0
  /// The probability that the link is lost with a frame.
  public var linkLoss = 0.0
  /// The probability that a packet is lost while a burst lasts, on the radio; 0 for no bursts.
  public var burstLoss = 0.0
  /// The mean duration of a burst. A burst that is longer than the supervision timeout and loses everything
  /// loses the link.
  public var burstLength = Interval.milliseconds(500)
  /// The mean time from one burst to the next.
  public var burstGap = Interval.seconds(10)

  /// Makes fair channel conditions.
  public init(loss: Double = 0, linkLoss: Double = 0) {
    self.loss = loss
    self.linkLoss = linkLoss
  }

  /// Whether nothing is ever lost.
  public var isFair: Bool { loss == 0 && linkLoss == 0 && burstLoss == 0 }

  /// The bursts on the radio.
  var bursts: LossBursts? {
    burstLoss == 0 ? nil : LossBursts(packetLoss: burstLoss, length: burstLength, gap: burstGap)
  }
}

extension ChannelConditions {
  /// By how much a frame is delayed, since its packet is lost and sent again at each connection event; `nil`
  /// if the link is lost, by the timeout or at once.
  func delay(
    each interval: Interval, upTo timeout: Interval, drawnFrom chance: inout SeededGenerator
  ) -> Interval? {
    guard !isFair else { return .zero }
    var delay = Interval.zero
    while chance.happens(loss) {
      delay = delay + interval
      if delay >= timeout { return nil }
    }
    return chance.happens(linkLoss) ? nil : delay
  }
}
