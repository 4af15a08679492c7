import Foundation
import TestSupport
import Testing

/// README and all pages beside the code: what they say is done, and what they show is compared.
@Suite("The pages", .timeLimit(.minutes(10)))
struct DocumentationTests {
  @Test(
    "what a page has one do works, what it shows is printed, and its links lead somewhere",
    arguments: Pages.all)
  func holds(page: Page) throws {
    var check = try PageCheck(page)
    try check.run()
    #expect(check.problems.isEmpty, "\(check.problems.joined(separator: "\n"))")
  }

  @Test("every page is reached from the index, and the index from README")
  func reached() throws {
    let readme = try #require(Pages.named("README.md"))
    #expect(readme.links.contains(Pages.index))
    let index = try #require(Pages.named(Pages.index))
    let listed = Set(index.links.map { index.place(of: $0).path })
    expect(Pages.all.map(\.path).filter { !listed.contains($0) && $0 != Pages.index }, [])
  }

  @Test("README is one screen and five doors")
  func size() throws {
    let readme = try #require(Pages.named("README.md"))
    #expect(readme.size.lines <= 80 && readme.size.words <= 500, "\(readme.size)")
  }

  @Test("the picture of the terminal is what a run prints")
  func picture() throws {
    let folder = try Command.Folder()
    let result = try Command.shell(".ci/pictures \"$LOCKSTEP\" '\(folder.path)' terminal")
    expect(result.status, 0)
    let drawn = try String(
      contentsOfFile: Command.root + "/Sources/lockstep/lockstep.docc/Pictures/failure-terminal.svg",
      encoding: .utf8)
    #expect(try folder.read("failure-terminal.svg") == drawn, "run: make pictures")
  }

  @Test("a page with a mistake of each kind: the canary of this suite")
  func canary() throws {
    let page = Page(
      path: "Sources/lockstep/lockstep.docc/Canary.md",
      text: """
        # A page
        [a](Nowhere.md), [b](Index.md#nowhere), [c](#a-page), [d](Index.md#begin), <doc:Nobody>
        `lockstep run --seed 4`, `lockstep lsit`, `lockstep run --steps 3`, `fuzz
        --nothing`, `--carrier`
        ```sh
        lockstep run Scenarios/door --nothing
        ```
        ```sh exits 1
        lockstep run Scenarios/door --quiet
        ```
        ```sh no-run
        sudo make nothing && lockstep lsit   # lockstep never
        lockstep scan --transport usb:0
        ```
        ```sh
        printf 'a\\nb\\nc\\n'
        ```
        ```text
        a
        …
        ```
        ```sh
        printf 'one 1 two\\n'
        ```
        ```text
        one … three
        ```
        ```yaml
        scenario: A door
        machine: door
        steps: [Opne]
        ```
        ```yaml
        bench: a
        lcoks: []
        ```
        ```yaml
        scenrio: A door
        ```
        ```
        no language
        ```
        """)
    var check = try PageCheck(page)
    try check.run()
    expect(
      check.problems.map { $0.prefix { $0 != "\n" }.description.replacing(page.path, with: "") },
      [
        ": Nowhere.md leads nowhere", ": Index.md#nowhere names no heading", ": Nobody.md leads nowhere",
        ": there is no 'lockstep lsit'", ": 'lockstep run --steps 3' has no such option",
        ": 'fuzz --nothing' has no such option", ": '--carrier' has no such option",
        ":5: unknown option '--nothing'", ":5: ends with [\"2\"], not with []:",
        ":8: ends with [], not with [\"1\"]:",
        ":11: make has no 'nothing'", ":11: unknown command 'lsit': did you mean 'list'?",
        ":25: what is printed is:",
        ":28: Scenarios/sesame5/of-a-page.yaml:3:9: unknown step `Opne`",
        ":33: bench.yaml:1:1: missing key `locks`",
        ":37: 'scenrio: A door' begins no document: is this 'yaml part'?",
        ":40: no block is called ''",
      ])
  }
}
