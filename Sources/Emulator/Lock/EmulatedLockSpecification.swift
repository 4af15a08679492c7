public import Conformance
import Documents
public import Sesame

/// What kind of lock is emulated, as a user writes it: `sesame5?defect=deaf-unlock&loss=0.01`.
public struct EmulatedLockSpecification: Equatable, Sendable {
  /// The product.
  public var model: ProductModel
  /// The lock's switches.
  public var options: LockOptions
  /// The lock's bugs.
  public var defects: LockDefects
  /// What can go wrong between the lock and its client.
  public var weather: LinkWeather
  /// What carries frames between them.
  public var link = LinkKind.direct
  /// What it is to whoever drives it.
  public var role = LockRole.emulated
  /// How it is when it is found; only of a lock that is driven as a real one.
  public var found = LockFound.locked

  /// Makes a specification.
  public init(
    _ model: ProductModel, options: LockOptions = LockOptions(), defects: LockDefects = [],
    weather: LinkWeather = LinkWeather()
  ) {
    self.model = model
    self.options = options
    self.defects = defects
    self.weather = weather
  }

  /// Reads the name of a lock and its settings: options, any number of `defect`, `as`, `found`, `link`, `loss` and
  /// `link-loss`.
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
      case "loss": weather.loss = try Self.probability(value, of: name)
      case "link": link = try Self.value(value, of: name)
      case "link-loss": weather.linkLoss = try Self.probability(value, of: name)
      default:
        do throws(LockOptionError) {
          try options.set(name, to: value)
        } catch .unknownName {
          throw .unknownName(name, nearest: nearestName(to: name, in: Self.settingNames))
        } catch {
          throw error
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
  }

  /// The locks that can be emulated, by the names that users type.
  public static let names: [(name: String, model: ProductModel)] = [
    ("sesame3", .sesame3), ("sesame4", .sesame4), ("sesame5", .sesame5), ("sesame5pro", .sesame5Pro),
  ]

  /// The settings that a lock takes.
  public static var settingNames: [String] {
    ["defect", "as", "found", "link", "loss", "link-loss"] + LockOption.all.map(\.name)
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

  private static func probability(_ text: String, of name: String) throws(LockOptionError) -> Double {
    guard let value = Double(text), (0...1).contains(value) else {
      throw .unknownValue(text, of: name, values: "a probability from 0 to 1", nearest: nil)
    }
    return value
  }
}

/// What carries frames between an emulated lock and its client.
public enum LinkKind: String, CaseIterable, Sendable {
  /// Memory, for millions of sessions: ``DirectLink``.
  case direct
  /// GATT over two hosts and two controllers on an emulated radio: ``RadioWorld``.
  case radio
}

/// What an emulated lock is to whoever drives it.
public enum LockRole: String, CaseIterable, Sendable {
  /// One that can be put into any condition, and has a hand and a screwdriver beside it.
  case emulated
  /// One that is on the air and goes on from test to test as it is: nobody stands beside it, and its motor wears.
  case real
}

/// How a lock that is driven as a real one is when it is found, before the first test.
public enum LockFound: String, CaseIterable, Sendable {
  /// It has no owner.
  case unregistered
  /// It has an owner, and its positions were never set.
  case unconfigured
  /// It has an owner and positions, and its bolt rests in one of them, or in neither.
  case locked, unlocked, moved

  /// The start condition that it is.
  public var condition: StartCondition {
    switch self {
    case .unregistered: StartCondition([Argument("registered", .flag(false))])
    case .unconfigured: StartCondition([Argument("configured", .flag(false))])
    case .locked, .unlocked, .moved: StartCondition([Argument("bolt", .text(rawValue))])
    }
  }
}

/// What can go wrong between a lock and its client without anybody's doing.
public struct LinkWeather: Equatable, Sendable {
  /// The probability that a frame, or an advertisement, is lost; on the radio, a packet, which is sent again. The link
  /// goes on.
  public var loss = 0.0
  /// The probability that the link is lost with a frame.
  public var linkLoss = 0.0

  /// Makes fair weather.
  public init(loss: Double = 0, linkLoss: Double = 0) {
    self.loss = loss
    self.linkLoss = linkLoss
  }

  /// Whether nothing is ever lost.
  public var isFair: Bool { loss == 0 && linkLoss == 0 }
}
