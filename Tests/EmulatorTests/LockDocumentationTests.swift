import Emulator
import Foundation
import TestSupport
import Testing

@Suite("The emulated lock's documentation")
struct LockDocumentationTests {
  private func lines(of article: String) throws -> [String] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Emulator/Emulator.docc")
    let text = try String(contentsOf: folder.appending(path: article), encoding: .utf8)
    return text.split(separator: "\n").map(String.init)
  }

  @Test("the table of settings is the lock's own")
  func settings() throws {
    let rows = LockOption.all.map { "| `\($0.name)` | \($0.values) | `\($0.usual)` | \($0.sentence) |" }
    let link = [
      "| `defect` | the name of a defect | | One of the bugs of <doc:Defects>; may be given several times. |",
      "| `as` | emulated, real | `emulated` | Whether tests can create any condition of the lock "
        + "directly (`emulated`), or Lockstep treats it as a real lock on the air (`real`); see below. |",
      "| `found` | unregistered, unconfigured, locked, unlocked, moved | `locked` | With `as=real`: the "
        + "state of the lock when the first test begins. |",
      "| `link` | direct, radio | `direct` | Whether frames pass through memory, or over two Bluetooth "
        + "hosts on an emulated radio. |",
      "| `loss` | a probability from 0 to 1 | `0` | The probability that a packet is lost. A lost "
        + "advertisement is missed. A packet of a link is sent again; after two seconds without success, "
        + "the link is lost. |",
      "| `link-loss` | a probability from 0 to 1 | `0` | The probability that a frame breaks the link. |",
      "| `burst-loss` | a probability from 0 to 1 | `0` | The probability that a packet is lost during "
        + "a burst of loss; needs `link=radio`. |",
      "| `burst-length` | a time from 1 ms to 1 h, such as 250 ms | `500 ms` | The mean duration of a "
        + "burst. |",
      "| `burst-gap` | a time from 1 ms to 1 h, such as 250 ms | `10 s` | The mean time from one burst "
        + "to the next. |",
    ]
    expect(try lines(of: "LockSettings.md").filter { $0.hasPrefix("| `") }, link + rows)
  }

  @Test("the table of defects is the lock's own")
  func defects() throws {
    let rows = LockDefect.allCases.map { "| `\($0.name)` | \($0.sentence) |" }
    let documented = try lines(of: "Defects.md").filter { $0.hasPrefix("| `") }
    // The last columns, the scenarios that show it, are tried where scenarios are.
    expect(documented.map { $0.split(separator: "|").prefix(2).map { "|\($0)" }.joined() + "|" }, rows)
  }
}
