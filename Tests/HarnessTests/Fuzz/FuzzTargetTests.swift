import Automata
import Basics
import Conformance
import TestSupport
import Testing

@testable import Harness

@Suite("The subject of a campaign")
struct FuzzTargetTests {
  private static func described(_ change: (inout DeviceDescription) -> Void = { _ in }) -> DeviceDescription {
    var description = DeviceDescription(
      family: nil, machines: nil,
      abilities: Abilities(stimuli: ["open", "close", "tire"], faults: ["wind"], settings: ["ajar"]))
    change(&description)
    return description
  }

  private static func target(
    _ settings: KeyValuePairs<String, String> = [:], _ description: DeviceDescription = described()
  ) throws(DeviceProblem) -> FuzzTarget {
    let provider = ToyProvider()
    provider.program = description
    guard let machine = try? toyMachines().machine("door") else { throw DeviceProblem(.name, "no machine") }
    return try FuzzTarget(
      machine, DeviceSpec(.exec, "./door", settings.map { .init($0.key, $0.value) }), seed: 1,
      provider: provider)
  }

  /// The starts with their numbers.
  private static func words(_ target: FuzzTarget) -> [String] {
    zip(target.startNumbers, target.starts).map { number, start in
      (["\(number)"] + start.settings.map { "\($0.name) \($0.value)" }).joined(separator: ", ")
    }
  }

  private static let bolt = UsualSetting(Argument("bolt", .text("locked")))
  private static let history = UsualSetting(Argument("history", .text("empty")), with: "tire")

  /// Settings, what is known of the device, and the conditions in which tests start, or the problem.
  // swift-format-ignore
  private static let rows: [(settings: KeyValuePairs<String, String>, device: DeviceDescription, starts: [String])] = [
    ([:], described(), ["0, ajar yes", "1, ajar no"]), (["ajar": "true"], described(), ["0, ajar yes"]),
    (["ajar": "no"], described(), ["1, ajar no"]),
    // What is fixed leaves the starts that agree with it; what cannot be asked for is not asked for.
    ([:], described { $0.given = [Argument("ajar", .flag(false))] }, ["1, ajar no"]),
    ([:], described { $0.given = [Argument("ajar", .flag(true))] }, ["0, ajar yes"]),
    ([:], described { $0.abilities.settings = [] }, ["0", "1"]),
    ([:], described { $0.abilities.settings = nil }, ["0, ajar yes", "1, ajar no"]),
    (["paint": "red"], described { $0.abilities.settings = nil }, ["0, paint red, ajar yes", "1, paint red, ajar no"]),
    // An option of the device is no condition.
    (["paint": "red"], described { $0.options = ["paint"] }, ["0, ajar yes", "1, ajar no"]),
    // What holds in every case holds in every test, unless it is for one stimulus.
    ([:], described { $0.usual = [bolt, history] }, ["0, ajar yes, bolt locked", "1, ajar no, bolt locked"]),
    (["ajar": "no", "bolt": "unlocked"], described { $0.usual = [bolt]; $0.abilities.settings = nil }, ["1, ajar no, bolt unlocked"]),
    (["ajr": "no"], described(), ["unknown setting `ajr`: did you mean `ajar`?"]),
  ]

  @Test("tests start in every condition that machine, device and settings agree on", arguments: rows.indices)
  func starts(index: Int) {
    let (settings, device, starts) = Self.rows[index]
    do throws(DeviceProblem) {
      expect(Self.words(try Self.target(settings, device)), starts)
    } catch { expect([error.description], starts) }
  }

  @Test("a start is written without what holds in every case")
  func written() throws {
    let target = try Self.target([:], Self.described { $0.usual = [Self.bolt] })
    let ajar = Argument("ajar", .flag(true))
    expect(target.written(target.starts[0]), StartCondition([ajar]))
    let unlocked = StartCondition([ajar, Argument("bolt", .text("unlocked"))])
    expect(target.written(unlocked), unlocked)
  }

  /// The stimuli that tests can give.
  private static func stimuli(_ target: FuzzTarget, _ abilities: Abilities) -> [String] {
    let alphabet = target.alphabet(target.machine.specification(abilities), abilities, FuzzSettings())
    return alphabet.acts.prefix(alphabet.eventCount).filter { !$0.variants.isEmpty }.map(\.name)
  }

  @Test("what the device does not take, and what it must not be given, is no act of a test")
  func acts() throws {
    let description = Self.described {
      $0.abilities.stimuli = ["open", "tire"]
      $0.withheld = [("tire", "it wears")]
    }
    let target = try Self.target([:], description)
    expect(target.undriven, ["close"])
    expect(try Self.target([:], Self.described { $0.abilities.stimuli = nil }).undriven, [])
    expect(Self.stimuli(target, description.abilities), ["open"])
    let whole = try Self.target()
    func problem(_ name: String, isWanted: Bool, twin: FuzzTarget? = nil) -> String? {
      do throws(DeviceProblem) {
        try target.checkAct(name, isWanted: isWanted, twin: twin)
        return nil
      } catch { return error.message }
    }
    // One that the device does not take can be left out all the same.
    expect(problem("close", isWanted: false), nil)
    expect(problem("close", isWanted: true), "unknown stimulus or fault `close`")
    expect(problem("close", isWanted: true, twin: whole), nil)
    expect(problem("slam", isWanted: false), "unknown stimulus or fault `slam`")
  }

  @Test("a campaign whose tests could only wait is refused")
  func idle() throws {
    let target = try Self.target()
    func problem(_ change: (inout FuzzSettings) -> Void) -> String? {
      var settings = FuzzSettings()
      change(&settings)
      do throws(DeviceProblem) {
        try target.checkActs(settings)
        return nil
      } catch { return error.message }
    }
    let idle = "no stimulus and no fault of exec:./door is left that a test could try"
    expect(problem { _ in }, nil)
    expect(problem { $0.weights = [("open", 0), ("close", 0)] }, nil)
    expect(problem { $0.weights = [("open", 0), ("close", 0), ("tire", 0)] }, idle)
    expect(problem { $0.levels = [.link] }, idle)
  }

  @Test("a reference device has the acts and the starts that both have")
  func standing() throws {
    let device = try Self.target(
      [:],
      Self.described {
        $0.given = [Argument("ajar", .flag(false))]
        $0.withheld = [("tire", "it wears")]
        $0.abilities.stimuli = ["open", "tire"]
      })
    let twin = try #require(try Self.target().standing(in: device))
    expect(Self.words(twin), ["1, ajar no"])
    expect(twin.withheld, ["tire"])
    expect(Self.stimuli(twin, Self.described().abilities), ["open"])
    #expect(try Self.target(["ajar": "true"]).standing(in: device) == nil)
  }
}
