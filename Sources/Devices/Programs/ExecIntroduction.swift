import Basics
import Conformance

/// What a program says that it is, when it is greeted. Whatever it leaves out is as with a program that says nothing.
///
///     {"hello":{"protocol":2,"time":"virtual","stimuli":["lock","enter"],
///               "arguments":{"enter":[{"code":"1234"},{"code":"0000"}]},"faults":{"jam":[true,false]}}}
struct ExecIntroduction: Equatable {
  /// The protocol that is spoken here; one that answers no greeting speaks the first.
  static let spokenProtocol = 2

  /// The values of one stimulus's arguments for tests that are generated.
  struct OfferedArguments: Equatable {
    var stimulus: String
    var values: [[Argument]]
  }

  /// What it calls itself.
  var name: String?
  /// Whether it is told how time passes, and has no clock of its own.
  var isInVirtualTime = false
  /// What it understands; `nil` where it has to be asked.
  var stimuli: [String]?
  var arguments: [OfferedArguments] = []
  /// The disturbances that it can bring about, with their values for tests that are generated.
  var faults: [Disturbance] = []
  /// The settings of start conditions; `nil` where it has to be asked.
  var settings: [String]?
  var conditions: [String] = []
  /// The events of the machine that it reports.
  var reports: [String] = []
  /// The values that it reports, and whether it shows effects.
  var readings: [String] = []
  var showsEffects = false
  /// The stimuli that set something in motion that wears.
  var moving: [String]?
}

extension ExecIntroduction {
  private typealias Malformed = ExecAnswer.Malformed

  /// Reads what stands under `hello`.
  init(_ json: JSON) throws(ExecAnswer.Malformed) {
    guard case .mapping(let members) = json else { throw Malformed(reason: "`hello` is no object") }
    for member in members { try take(member.name, member.value) }
    guard members.contains(where: { $0.name == "protocol" }) else {
      throw Malformed(reason: "`hello` says no `protocol`; this one is \(Self.spokenProtocol)")
    }
    guard let stimuli else { return }
    for name in arguments.map(\.stimulus) + (moving ?? []) where !stimuli.contains(name) {
      throw Malformed(reason: "`\(name)` is not among its `stimuli`")
    }
  }

  private static let members = [
    "protocol", "name", "time", "stimuli", "arguments", "faults", "settings", "conditions", "reports",
    "readings",
    "effects", "moves",
  ]

  private mutating func take(_ name: String, _ json: JSON) throws(Malformed) {
    func isWrong(_ expected: String) -> Malformed {
      Malformed(reason: "`\(name)` is \(json.line.prefix(60)), and not \(expected)")
    }
    func names() throws(Malformed) -> [String] {
      guard let names = json.strings else { throw isWrong("a list of names") }
      if let (index, twice) = names.enumerated().first(where: { names[..<$0].contains($1) }) {
        throw Malformed(reason: "`\(name)` has `\(twice)` twice, the second time as number \(index + 1)")
      }
      return names
    }
    switch name {
    case "protocol":
      guard json.int == Self.spokenProtocol else { throw isWrong("\(Self.spokenProtocol)") }
    case "name":
      guard let text = json.string else { throw isWrong("a text") }
      self.name = text
    case "time":
      guard let text = json.string, ["real", "virtual"].contains(text) else {
        throw isWrong("real or virtual")
      }
      isInVirtualTime = text == "virtual"
    case "stimuli": stimuli = try names()
    case "settings": settings = try names()
    case "conditions": conditions = try names()
    case "reports": reports = try names()
    case "readings": readings = try names()
    case "moves": moving = try names()
    case "effects":
      guard let flag = json.bool else { throw isWrong("true or false") }
      showsEffects = flag
    case "arguments":
      guard case .mapping(let members) = json else { throw isWrong("an object of lists") }
      for member in members {
        guard let choices = member.value.elements else { throw isWrong("an object of lists") }
        var values: [[Argument]] = []
        for choice in choices {
          guard let arguments = [Argument](choice) else {
            throw isWrong(#"a list of objects for each stimulus, such as [{"code":"1234"}]"#)
          }
          values.append(arguments)
        }
        arguments.append(OfferedArguments(stimulus: member.name, values: values))
      }
    case "faults":
      guard case .mapping(let members) = json else { throw isWrong("an object of lists") }
      for member in members { faults.append(try Self.fault(member)) }
    default:
      let nearest = nearestName(to: name, in: Self.members).map { "; did you mean `\($0)`?" } ?? ""
      throw Malformed(reason: "`hello` has an unknown member `\(name)`\(nearest)")
    }
  }

  private static func fault(_ member: JSON.Member) throws(Malformed) -> Disturbance {
    var fault = Disturbance(.events, member.name, [])
    let wrong = Malformed(
      reason:
        "the fault `\(member.name)` is \(member.value.line.prefix(60)), and not a list of values, or an "
        + "object of a `level` and `values`")
    var values = member.value
    if case .mapping(let members) = values {
      guard members.allSatisfy({ ["level", "values"].contains($0.name) }) else { throw wrong }
      if let level = values["level"] {
        guard let level = level.string.flatMap(TestLevel.init) else {
          let levels = TestLevel.allCases.map(\.rawValue).joined(separator: ", ")
          throw Malformed(reason: "the fault `\(member.name)` has a level that is none of \(levels)")
        }
        fault.level = level
      }
      values = values["values"] ?? [true, false]
    }
    guard let elements = values.elements else { throw wrong }
    fault.values = elements.compactMap { Value(offered: $0) }
    guard fault.values.count == elements.count, !elements.isEmpty else { throw wrong }
    return fault
  }

  /// What it can serve. In real time what is shown comes through a pipe, and a machine that is busy.
  var abilities: Abilities {
    Abilities(
      stimuli: stimuli, faults: faults.map(\.fault), settings: settings, conditions: conditions,
      reports: reports,
      showsEffects: showsEffects, slack: isInVirtualTime ? .zero : .milliseconds(100),
      isInVirtualTime: isInVirtualTime, arguments: arguments.map { ($0.stimulus, $0.values) },
      disturbances: faults)
  }
}

extension Value {
  /// Reads a value of generated tests: `2 s` is a length of time, as it is in a scenario.
  fileprivate init?(offered json: JSON) {
    guard let value = Value(json) else { return nil }
    if case .text(let text) = value, let interval = Interval(text: text) {
      self = .duration(interval)
    } else {
      self = value
    }
  }
}

extension [Argument] {
  /// Reads names and values; `nil` for what are none.
  init?(_ json: JSON) {
    guard case .mapping(let members) = json else { return nil }
    let arguments = members.compactMap { member in
      Value(offered: member.value).map { Argument(member.name, $0) }
    }
    guard arguments.count == members.count else { return nil }
    self = arguments
  }
}
