import Automata
import Basics
import Conformance
import TestSupport
import Testing

/// Something that a test does or sees, at a second of it.
private enum Moment {
  case give(Int, String, [Argument] = [])
  case fault(Int, String, Value = .flag(true))
  case show(Int, String)
  case read(Int, String)
}

/// What an invariant first finds wrong with a test.
private func complaint(of invariant: any Invariant, ofNew isNew: Bool = false, _ moments: [Moment]) -> String?
{
  let names = Vocabulary(
    stimuli: ["closeTo", "connect", "unlock", "readHistory"], statuses: ["noSignal", "receivedBle"])
  var invariant = invariant
  invariant.reset(isNew: isNew)
  for moment in moments {
    let (second, event): (Int, TraceEvent) =
      switch moment {
      case .give(let second, let name, let arguments):
        (second, .stimulus(Stimulus(names.stimulus(name) ?? 0, arguments)))
      case .fault(let second, let name, let value): (second, .fault(Fault(name, value)))
      case .show(let second, let name): (second, .observation(names.observation(ofStatus: name)))
      case .read(let second, let text): (second, .observation(.reading(Reading("history", .text(text)))))
      }
    let time = Instant.zero + .seconds(Int64(second))
    if let found = invariant.check(event, at: time, in: ModelView(names)) { return found }
  }
  return nil
}

@Suite("A record of a command says whose it was")
struct KeepsTagsTests {
  private let tags = KeepsTags(
    TraceRule.Records(
      of: ["lock", "unlock", "toggle"], request: "readHistory", reading: "history", rest: "noSignal",
      capacities: [21, 29], unless: ["forge"]))

  @Test("a command that stands in the history without its tag is found out, once the history was ours alone")
  func untagged() {
    let found = "the history shows a command without its tag: #4 unlock no tag"
    expect(complaint(of: tags, [.read(1, "empty"), .give(2, "unlock"), .read(3, "#4 unlock no tag")]), found)
    expect(complaint(of: tags, [.read(1, "#3 lock no tag"), .read(2, "#4 unlock no tag")]), nil)
    expect(complaint(of: tags, [.read(1, "empty"), .read(2, "#4 unlock “Alice”")]), nil)
    expect(complaint(of: tags, [.read(1, "empty"), .read(2, "#4 unlocked by hand no tag")]), nil)
  }

  @Test("the history of a lock that is made anew was ours alone from the start")
  func untaggedOnNewLock() {
    let moments: [Moment] = [.give(1, "unlock"), .read(2, "#1 unlock no tag")]
    expect(complaint(of: tags, moments), nil)
    expect(
      complaint(of: tags, ofNew: true, moments),
      "the history shows a command without its tag: #1 unlock no tag")
    expect(complaint(of: tags, ofNew: true, [.give(1, "unlock"), .read(2, "#1 unlock “Alice”")]), nil)
  }

  @Test("not where somebody else may have given it, or nobody gave a tag")
  func untaggedForAReason() {
    let end: [Moment] = [.read(1, "empty"), .read(3, "#4 unlock no tag")]
    expect(complaint(of: tags, [.fault(0, "forge")] + end), nil)
    expect(complaint(of: tags, [.give(0, "unlock", [Argument("bytes", .text(""))])] + end), nil)
  }

  @Test("again, once the end of the history was asked for and read after that")
  func doubtThatIsOver() {
    let found = "the history shows a command without its tag: #9 unlock no tag"
    func doubted(_ moments: [Moment]) -> String? {
      complaint(
        of: tags,
        [.give(0, "readHistory"), .read(0, "empty"), .fault(1, "forge")] + moments + [
          .read(30, "#9 unlock no tag")
        ])
    }
    expect(doubted([]), nil)
    expect(doubted([.give(10, "readHistory"), .read(11, "empty")]), found)
    // So soon that a motor may still be at it.
    expect(doubted([.give(2, "readHistory"), .read(3, "empty")]), nil)
    // An answer that never came is none.
    expect(
      complaint(
        of: tags,
        [
          .give(0, "readHistory"), .read(0, "empty"), .give(1, "readHistory"), .fault(2, "forge"),
          .give(10, "readHistory"),
          .read(11, "empty"), .read(30, "#9 unlock no tag"),
        ]), nil)
    expect(
      complaint(
        of: tags,
        [
          .give(0, "readHistory"), .read(0, "empty"), .give(1, "readHistory"), .fault(2, "forge"),
          .show(3, "noSignal"),
          .give(10, "readHistory"), .read(11, "empty"), .read(30, "#9 unlock no tag"),
        ]), found)
  }

  @Test("so is a part of a tag; but what is cut where no lock holds more is whole")
  func cutTag() {
    func found(_ record: String, tag: String) -> String? {
      complaint(
        of: tags,
        [.read(1, "empty"), .give(2, "unlock", [Argument("tag", .text(tag))]), .read(3, record)])
    }
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    let kept = "the history keeps a part of a command's tag: #4 unlock “ABCDEFGHIJKLMNOP”"
    expect(found("#4 unlock “ABCDEFGHIJKLMNOP”", tag: letters), kept)
    expect(found("#4 unlock “ABCDEFGHIJKLMNOP”", tag: "ABCDEFGHIJKLMNOPQR"), kept)
    expect(found("#4 unlock “”", tag: "ABC"), "the history keeps a part of a command's tag: #4 unlock “”")
    // One that begins with the same eight bytes is the same, altered. With seven it may be another client's.
    let altered = "the history has altered a command's tag: #4 unlock “ABCDEFGHXX”"
    expect(found("#4 unlock “ABCDEFGHXX”", tag: "ABCDEFGHIJ"), altered)
    expect(found("#4 unlock “ABCDEFGXXX”", tag: "ABCDEFGHIJ"), nil)
    for length in [21, 29] {
      expect(found("#4 unlock “\(letters.prefix(length))”", tag: letters), nil)
    }
    expect(found("#4 unlock “ABC”", tag: "ABC"), nil)
    expect(found("#4 unlock “Lockstep”", tag: letters), nil)
    expect(found("#4 unlock “ABCDEFGHIJKLMNOPQRSTU”", tag: String(letters.prefix(22))), nil)
    expect(
      complaint(
        of: tags,
        [
          .read(1, "empty"), .give(2, "unlock", [Argument("bytes", .text("fffe"))]),
          .read(3, "#4 unlock “\u{FFFD}”"),
        ]), "the history keeps a part of a command's tag: #4 unlock “\u{FFFD}”")
  }
}
