import Basics
import Journal
import TestSupport
import Testing

@testable import Reporting

@Suite("Variables of a model, in reports")
struct VariableChangeTests {
  /// What a variable may be before and after an event, as JSON of its values, and what is said of the change.
  static let changes: [(old: String?, new: String, lines: [String])] = [
    (nil, "[0]", ["v = 0"]),
    (nil, #"[{"unknown":true}]"#, ["v = unknown"]),
    ("[0]", "[1]", ["v 0 → 1"]),
    ("[true]", "[null]", ["v yes → no value"]),
    (#"["a"]"#, #"[{"unknown":true}]"#, ["v 'a' → unknown"]),
    (#"[{"unknown":true}]"#, #"[{"a":1}]"#, ["v unknown → {a: 1}"]),
    ("[0]", "[1,2]", ["v 0 → 1 or 2"]),
    ("[1,2]", "[2]", ["v 1 or 2 → 2"]),
    (
      #"["a"]"#, #"["\#(String(repeating: "b", count: 60))","c","d"]"#, ["v 'a' → one of 3"]
    ),
    // Lists: what was added, and from which end others were dropped.
    (#"[[]]"#, #"[["a"]]"#, ["v + 'a', first of 1"]),
    (#"[["a","b"]]"#, #"[["c","a","b"]]"#, ["v + 'c', first of 3"]),
    (#"[["a","b"]]"#, #"[["c","a"]]"#, ["v + 'c', first of 2, the last one dropped"]),
    (#"[["a","b"]]"#, #"[["a","b","c"]]"#, ["v + 'c', last of 3"]),
    (#"[["a","b"]]"#, #"[["b","c"]]"#, ["v + 'c', last of 2, the first one dropped"]),
    (#"[["a","b"]]"#, #"[["a","x"]]"#, ["v[1] 'b' → 'x'"]),
    (#"[["a","b","c"]]"#, #"[["a","c"]]"#, ["v − 'b'"]),
    (#"[["a","b","c"]]"#, #"[["x"]]"#, ["v ['a', 'b', 'c'] → ['x']"]),
    (
      "[[0]]", "[[5,4,3,2,1,0]]",
      ["v + 5, first of 6", "v + 4, first of 6", "v + 3, first of 6", "and 2 more of v"]
    ),
    // Maps and records: the entries that differ.
    (#"[{"a":"1","b":"2"}]"#, #"[{"a":"3","b":"2"}]"#, ["v.a '1' → '3'"]),
    (#"[{"a":"1"}]"#, #"[{"a":"1","b":"2"}]"#, ["v.b + '2'"]),
    (#"[{"a":"1","b":"2"}]"#, #"[{"b":"2"}]"#, ["v.a − '1'"]),
  ]

  @Test("a change is told by what is different", arguments: changes.indices)
  func lines(index: Int) throws {
    let (old, new, lines) = Self.changes[index]
    func variable(_ text: String) throws -> Record.Variable {
      Record.Variable("v", try #require(JSON(parsing: Array(text.utf8)).elements))
    }
    expect(VariableChange(of: try old.map(variable), to: try variable(new)).lines, lines)
  }

  @Test("too many values are counted, and a long list shows its first elements")
  func long() {
    var many = Record.Variable("v", (0..<8).map { .integer($0) })
    many.isMore = true
    expect(many.text(to: 100), "one of more than 8")
    let list = Record.Variable("v", [.list((1...50).map { .integer($0) })])
    expect(list.text(to: 24), "[1, 2, 3, 4, 5, 6, 7, 8, … 50 in all]")
  }

  private static let journalLines = [
    #"{"case":{"id":"a","machine":"m"}}"#,
    #"{"t":"0.000","model":["locked"],"variables":[{"name":"wrong","values":[0]},{"name":"log","values":[[]]}]}"#,
    #"{"t":"0.000","status":"locked"}"#,
    #"{"t":"1.000","step":1,"line":7,"stimulus":"enter"}"#,
    #"{"t":"1.000","model":["locked"],"variables":[{"name":"wrong","values":[1]},{"name":"log","values":[["<x>"]]}]}"#,
    #"{"t":"2.000","model":["locked","open"],"variables":[{"name":"wrong","values":[1,0]}]}"#,
    #"{"t":"3.000","step":2,"line":8,"stimulus":"lock"}"#,
    #"{"verdict":"divergence","case":"a","t":"3.000","step":2,"expected":"locked","observed":"open"}"#,
  ]

  @Test("the page has them in the row of their event, in the drawing, and where the case diverged")
  func page() throws {
    let html = try TestFolder().page(journal(Self.journalLines, cases: 1, status: 1)).html
    let rows = html.matches(of: /<tr class="(?:tester|device|model)".*?<\/tr>/.dotMatchesNewlines())
      .map {
        $0.0.matches(of: /<div class="var">(.*?)<\/div>/).map {
          String($0.1.replacing(/<[^>]*>/, with: "").replacing(/[ ]+/, with: " "))
        }
      }
    expect(
      rows,
      [
        ["wrong = 0", "log = []"], [], ["wrong 0 → 1", "log + &#39;&lt;x&gt;&#39; first of 1"],
        ["wrong 1 → 1 or 0"], [],
      ])
    let drawn = html.matches(of: /<text class="what"[^>]*>([^<]+)</).map { String($0.1) }
    expect(
      drawn.filter { $0.hasPrefix("wrong") || $0.hasPrefix("log") },
      ["wrong = 0", "log = []", "wrong 0 → 1", "log + &#39;&lt;x&gt;&#39;, first of 1", "wrong 1 → 1 or 0"])
    let table = try #require(
      html.firstMatch(of: /<div class="variables">.*?<\/div>\n<\/div>/.dotMatchesNewlines()))
    expect(
      table.0.matches(
        of: /<tr><td>(.*?)<\/td><td><span class="value">(.*?)<\/span><\/td>\n?<td>(.*?)<\/td>/
      ).map {
        "\($0.1) \($0.2) \($0.3)"
      }, ["wrong 1 or 0 2.000 s", "log [&#39;&lt;x&gt;&#39;] 1.000 s"])
  }

  @Test("a machine without variables has none of it on its page")
  func none() throws {
    let html = try TestFolder().page(journal(SampleRun.divergence, cases: 1, status: 1)).html
    #expect(!html.contains("class=\"var\"") && !html.contains("class=\"variables\""))
  }
}
