import Foundation
import TestSupport
import Testing

/// The lock of one's own that its page shows, line for line as a reader would paste it.
@Suite("The page's device")
struct ExternalDeviceTests {
  /// The lines of the page, with the command that is tested and the scenarios where they are.
  private static func lines() throws -> String {
    let page = try #require(Pages.named("Sources/Programs/Programs.docc/YourOwnLock.md"))
    let block = try #require(page.blocks.first { $0.text.hasPrefix("lockstep bindings") })
    return ("lockstep() { \"$LOCKSTEP\" \"$@\"; }\n" + block.text)
      .replacing("Scenarios/door", with: "'\(Command.root)/Scenarios/door'")
  }

  @Test("it agrees with the door's machine in every scenario and in generated tests")
  func agrees() throws {
    let folder = try Command.Folder()
    let result = try Command.shell("set -e\n" + Self.lines(), in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("3 agree"), "\(result.output)\(result.errors)")
    #expect(result.output.contains("nothing found in 20,000 events"), "\(result.output)\(result.errors)")
  }

  @Test("a bug in it is found: the canary of this suite")
  func canary() throws {
    let folder = try Command.Folder()
    let lines = try Self.lines()
    let broken = lines.replacing("door.show(\"Opened\")", with: "door.show(\"Closed\")")
    #expect(broken != lines)
    let result = try Command.shell(broken, in: folder.path)
    expect(result.status, 1)
    #expect(result.output.contains("the device showed Closed"), "\(result.output)")
  }
}
