import Reporting
import TestSupport
import Testing

/// The rare tests of campaigns in PostgreSQL.
@Suite("A corpus in a database", .enabled(if: PostgresServer.isThere), .timeLimit(.minutes(10)))
struct CorpusStoreTests {
  private static let tests = (0..<12).map {
    CorpusStore.Test(name: "\($0 * 7 % 12 + 10)", text: "scenario: \($0)\n")
  }
  private static let sorted = tests.sorted { $0.name < $1.name }

  /// What campaigns add, in several orders, with what others have too and with the whole of a campaign once more.
  private static let orders: [[[CorpusStore.Test]]] = [
    [Array(tests[0..<5]), Array(tests[5..<9]), Array(tests[3..<12])],
    [Array(tests[3..<12].reversed()), Array(tests[0..<5]), Array(tests[5..<9]), Array(tests[0..<5])],
  ]

  @Test("holds the same whichever campaign comes first, and when one comes again", arguments: orders)
  func set(order: [[CorpusStore.Test]]) throws {
    let url = try #require(PostgresServer.shared).newDatabase()
    for campaign in order {
      let store = try CorpusStore(url: url)
      for test in campaign { try store.keep(test, of: "door") }
    }
    let store = try CorpusStore(url: url)
    expect(try store.tests(of: "door", maximum: 100), Self.sorted)
    expect(try store.tests(of: "socket", maximum: 100), [])
    expect(try CorpusStore(url: url).tests(of: "door", maximum: 3), Array(Self.sorted.suffix(3)))
  }

  @Test("tells each reader what is new to him, and a history in the same database minds its own business")
  func news() throws {
    let url = try #require(PostgresServer.shared).newDatabase()
    let (reader, writer) = (try CorpusStore(url: url), try CorpusStore(url: url))
    try writer.keep(Self.tests[0], of: "door")
    expect(try reader.tests(of: "door", maximum: 10), [Self.tests[0]])
    expect(try reader.tests(of: "door", maximum: 10), [])
    try writer.keep(Self.tests[0], of: "door")
    try writer.keep(Self.tests[1], of: "door")
    expect(try reader.tests(of: "door", maximum: 10), [Self.tests[1]])
    expect(try History(HistoryPlace(url), for: .adding).runs().count, 0)
    expect(try CorpusStore(url: url).tests(of: "door", maximum: 10).count, 2)
  }

  @Test("leaves out what a job found, for its own parts alone")
  func job() throws {
    let url = try #require(PostgresServer.shared).newDatabase()
    let store = try CorpusStore(url: url)
    try store.keep(Self.tests[0], of: "door")
    try store.keep(Self.tests[1], of: "door", job: "night-1")
    // Whoever finds it again, it is whose it was.
    try store.keep(Self.tests[1], of: "door", job: "night-2")
    try store.keep(Self.tests[2], of: "door", job: "night-2")
    func names(without job: String?) throws -> [CorpusStore.Test] {
      try CorpusStore(url: url).tests(of: "door", maximum: 10, without: job)
    }
    expect(try names(without: nil), Self.tests[..<3].sorted { $0.name < $1.name })
    expect(try names(without: "night-1"), [Self.tests[0], Self.tests[2]].sorted { $0.name < $1.name })
    expect(try names(without: "night-2"), [Self.tests[0], Self.tests[1]].sorted { $0.name < $1.name })
  }

  @Test("a server that is not there is said, without its password")
  func absent() throws {
    let error = try #require(throws: HistoryError.self) {
      try CorpusStore(url: "postgres://me:hidden-word@/x?host=/nowhere")
    }
    #expect(
      !error.description.contains("hidden-word") && error.description.contains("cannot be reached"),
      "\(error)")
  }
}
