import Journal
import TestSupport
import Testing

@Suite("Adding coverage")
struct CoverageTests {
  private static func coverage(_ members: String) throws -> Record.Coverage {
    guard
      case .coverage(let coverage) = try Record(
        parsing: Array(#"{"coverage":{"machine":"m",\#(members)}}"#.utf8).span)
    else { throw RecordError(reason: "no coverage") }
    return coverage
  }

  /// The coverage of two runs, and their sum.
  // swift-format-ignore
  private static let sums: [(String, String, String)] = [
    (#""legal":[1,4],"empty":[1,5],"states":[2,3],"transitions":[1,6],"pairs":[1,9],"visited":["8","80","80"]"#,
     #""legal":[2,4],"empty":[1,5],"states":[1,3],"transitions":[2,6],"pairs":[2,9],"visited":["6","08","44"]"#,
     #""legal":[3,4],"empty":[2,5],"states":[2,3],"transitions":[3,6],"pairs":[2,9],"visited":["e","88","c4"]"#),
    (#""legal":[1,4],"empty":[0,5],"transitions":[2,6],"visited":["8","00","c0"]"#,
     #""legal":[1,4],"empty":[0,5],"transitions":[1,6],"visited":["8","00","20"]"#,
     #""legal":[1,4],"empty":[0,5],"transitions":[3,6],"visited":["8","00","e0"]"#),
    (#""legal":[1,4],"empty":[1,5],"visited":["8","80"]"#, #""legal":[1,4],"empty":[1,5],"visited":["4","80"]"#,
     #""legal":[2,4],"empty":[1,5],"visited":["c","80"]"#),
    (#""legal":[1,4],"transitions":[1,6],"visited":["8","80","80"]"#, #""legal":[2,4],"transitions":[3,6]"#,
     #""legal":[2,4],"transitions":[3,6]"#),
    (#""legal":[1,4],"visited":["8","80"]"#, #""legal":[2,4],"transitions":[3,6]"#,
     #""legal":[2,4],"transitions":[3,6]"#),
    (#""legal":[1,4],"transitions":[1,6],"visited":["8","8","80"]"#,
     #""legal":[1,4],"transitions":[2,6],"visited":["4","8","x0"]"#,
     #""legal":[1,4],"transitions":[2,6]"#),
    (#""transitions":[1,4],"regions":[{"name":"a","legal":[1,2]}],"visited":["8","","8"]"#,
     #""transitions":[1,4],"regions":[{"name":"b","legal":[1,2]},{"name":"a","legal":[2,2]}],"visited":["4","","4"]"#,
     #""transitions":[2,4],"regions":[{"name":"a","legal":[2,2]},{"name":"b","legal":[1,2]}],"visited":["c","","c"]"#),
  ]

  @Test("the sum has the cells and transitions of both, as far as they are known", arguments: sums)
  func sum(first: String, second: String, sum: String) throws {
    var runs: [Record.Coverage] = []
    for members in [first, second, first] { runs.add(try Self.coverage(members)) }
    expect(runs, [try Self.coverage(sum)])
  }

  @Test("the tried requests are known from the digits")
  func tried() throws {
    let coverage = try Self.coverage(#""visited":["9g"]"#)
    expect([0, 1, 3, 4, 8, -1].map(coverage.isTried(allowed:)), [true, false, true, nil, nil, nil])
    expect(try Self.coverage(#""legal":[1,4]"#).isTried(allowed: 0), nil)
  }
}
