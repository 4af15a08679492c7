import Testing
import TestSupport

@testable import Harness

@Suite("Filters of scenarios")
struct ScenarioFilterTests {
  /// Some scenarios, by what a filter can ask for.
  private func items() throws -> [ScenarioSet.Item] {
    let machine = try toyMachines().machine("door")
    let texts = [
      ("a/jam.yaml", "A jam is told (twice)", ["smoke", "slow"], "sesame5"),
      ("a/door.yaml", "The door is open", ["smoke"], "sesame3"),
      ("b/Battery.yaml", "A jam of the battery", ["nightly"], "sesame5pro"),
    ]
    return texts.map { path, title, tags, device in
      var scenario = Scenario(title: title, machine: "door", steps: [])
      scenario.tags = tags
      scenario.device = DeviceSpec(.emulator, device)
      return ScenarioSet.Item(path: path, scenario: scenario, machine: machine)
    }
  }

  @Test(
    "a text or an expression selects",
    arguments: [
      ("jam", [0, 2]), ("JAM", [0, 2]), ("smoke", [0, 1]), ("(twice)", [0]), ("not there", []),
      ("tag(smoke)", [0, 1]), ("tag(smok)", []), ("tag(~smok)", [0, 1]), ("tag(s*)", [0, 1]),
      ("tag(smoke) - path(jam)", [1]), ("tag(smoke) & path(jam)", [0]), ("path(jam)|tag(nightly)", [0, 2]),
      ("path(jam) + tag(nightly)", [0, 2]), ("path(jam) or tag(nightly)", [0, 2]),
      ("tag(smoke) and not path(jam)", [1]), ("!tag(smoke)", [2]), ("not (tag(smoke) & tag(slow))", [1, 2]),
      ("tag(nightly) | tag(smoke) & tag(slow)", [0, 2]), ("(tag(nightly) | tag(smoke)) & tag(slow)", [0]),
      ("all()", [0, 1, 2]), ("none()", []), ("all() - tag(slow) - tag(nightly)", [1]),
      ("device(sesame5)", [0]), ("device(sesame5*)", [0, 2]), ("device(sesame?)", [0, 1]),
      ("machine(door)", [0, 1, 2]), ("machine(doo)", []), ("machine(~doo)", [0, 1, 2]),
      ("path(=a/jam.yaml)", [0]), ("path(battery)", [2]), ("title( is )", [0, 1]),
      ("title(told (twice))", [0]),
      ("text(smoke)", [0, 1]), (" ( ( tag(slow) ) ) ", [0]),
    ])
  func selects(_ text: String, _ wanted: [Int]) throws {
    let filter = try ScenarioFilter(text)
    let found = try items().enumerated().filter { filter.matches($0.element) }.map(\.offset)
    expect(found, wanted)
  }

  @Test(
    "what is wrong with an expression is said with its place",
    arguments: [
      ("tags(smoke)", "column 1: unknown word `tags`: did you mean `tag`?"),
      (
        "xyzzy(a)",
        "column 1: unknown word `xyzzy`: expected one of machine, tag, device, path, title, text, all, none"
      ),
      ("tag(smoke", "column 1: `tag(` is not closed"),
      ("tag(smoke) path(a)", "column 12: expected `&`, `|` or `-`, and there is `p`"),
      ("(tag(smoke)", "column 12: expected `)`"),
      ("tag(smoke))", "column 11: expected `&`, `|` or `-`, and there is `)`"),
      ("tag()", "column 1: `tag(…)` needs a text in its brackets"),
      ("tag(=)", "column 1: `tag(…)` needs a text in its brackets"),
      ("all(x)", "column 1: `all()` takes nothing in its brackets"),
      (
        "tag(a) &",
        "column 9: expected machine(…), tag(…), device(…), path(…), title(…), text(…), all(…), none(…), and the expression ends"
      ),
    ])
  func problems(_ text: String, _ words: String) {
    #expect(throws: ScenarioFilter.Problem.self) { try ScenarioFilter(text) }
    do throws(ScenarioFilter.Problem) {
      _ = try ScenarioFilter(text)
    } catch {
      expect("\(error)", words)
    }
  }

  @Test(
    "a text that looks like an expression has one that may have been meant",
    arguments: [
      ("path (jam)", "path(jam)"), ("jam | door", "text(jam) | text(door)"), ("!jam", "!text(jam)"),
      ("jam & door", "text(jam) & text(door)"), ("jam&&door", "text(jam) & text(door)"),
      ("a jam and not the door", "text(a jam) & !text(the door)"), ("jam - door", "text(jam) - text(door)"),
      ("(jam or tag (x)) & b", "(text(jam) | tag(x)) & text(b)"),
      ("jam", nil), ("(twice)", nil), ("drop-during-login", nil), ("a jam is told", nil), ("jam &", nil),
      ("& jam", nil), ("(jam & door", nil), ("path (jam", nil), ("a path (jam)", nil),
      ("tag(smoke) | jam", nil),
      ("", nil), (String(repeating: "a & ", count: 100) + "a", nil),
    ])
  func meant(_ text: String, _ expression: String?) {
    expect(ScenarioFilter.expression(meantBy: text), expression)
  }

  @Test("an expression that is nested too deeply is refused, and is not the end of us")
  func depth() {
    let text = [String](repeating: "!(", count: 100_000).joined() + "all()"
    #expect(throws: ScenarioFilter.Problem.self) { try ScenarioFilter(text) }
  }
}
