import Simulation
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

  /// Reads the name of a lock and its settings: options, any number of `defect`, `link`, `loss` and `link-loss`.
  public init(parsing name: String, settings: [(name: String, value: String)] = []) throws(LockOptionError) {
    guard let model = Self.names.first(where: { $0.name == name })?.model else {
      throw .unknownDevice(name, nearest: nearestName(to: name, in: Self.names.map(\.name)))
    }
    self.init(model)
    for (name, value) in settings {
      switch name {
      case "defect": defects.insert(try LockDefect(named: value))
      case "loss": weather.loss = try Self.probability(value, of: name)
      case "link": link = try Self.link(value)
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
  }

  /// The locks that can be emulated, by the names that users type.
  public static let names: [(name: String, model: ProductModel)] = [
    ("sesame3", .sesame3), ("sesame4", .sesame4), ("sesame5", .sesame5), ("sesame5pro", .sesame5Pro),
  ]

  /// The settings that a lock takes.
  public static var settingNames: [String] {
    ["defect", "link", "loss", "link-loss"] + LockOption.all.map(\.name)
  }

  private static func link(_ text: String) throws(LockOptionError) -> LinkKind {
    guard let kind = LinkKind(rawValue: text) else {
      let names = LinkKind.allCases.map(\.rawValue)
      throw .unknownValue(
        text, of: "link", values: names.joined(separator: ", "), nearest: nearestName(to: text, in: names))
    }
    return kind
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

/// What can go wrong between a lock and its client without anybody's doing.
public struct LinkWeather: Equatable, Sendable {
  /// The probability that a packet is lost. An advertisement is missed with it; what goes over a link is sent again at
  /// the next connection event, and the link is lost when that goes on for as long as its supervision time-out.
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

extension LinkWeather {
  /// How much longer a frame is on its way since its packet is lost and sent again at each connection event; `nil`
  /// where the link is lost, by the time-out or at once.
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
