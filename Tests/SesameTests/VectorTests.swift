import Testing

/// Every vector of the published file, by its group.
@Suite struct VectorTests {
  /// Vectors that cannot be run, with the reason.
  static let excluded: [String: String] = [:]

  /// Expectations that tell of other programs' crashes; ours are checked to throw instead.
  static let told: Set<String> = ["ios_by_reading", "harness"]

  @Test("a vector gives what the file says", arguments: Vectors.all.filter { excluded[$0.id] == nil })
  func vector(_ vector: Vector) throws {
    let run = VectorCase(vector)
    switch vector.group {
    case "standard", "published": try run.standard()
    case "segmentation": try run.segmentation()
    case "os2-registration": try run.os2Registration()
    case "os2-login": try run.os2Login()
    case "os2-session": try run.os2Session()
    case "os2-negative", "os3-negative": try run.negative()
    case "os3-registration": try run.os3Registration()
    case "os3-login": try run.os3Login()
    case "os3-session": try run.os3Session()
    case "decode": try run.decode()
    case "battery": try run.battery()
    case "history-tag": try run.historyTag()
    case "advertisement": try run.advertisement()
    case "ble-address": try run.address()
    case "share-key": try run.shareKey()
    case "cloud": try run.cloud()
    default: Issue.record("the group \(vector.group) of \(vector.id) is not known")
    }
    #expect(run.open.filter { !Self.told.contains($0) } == [], "\(vector.id) was not compared in full")
  }

  @Test("all 261 vectors are run or listed with a reason")
  func complete() {
    let ids = Set(Vectors.all.map(\.id))
    #expect(ids.count == 261)
    #expect(Vectors.all.count { Self.excluded[$0.id] == nil } + Self.excluded.count == 261)
    #expect(Self.excluded.keys.filter { !ids.contains($0) } == [])
  }
}
