import TestSupport
import Testing

@testable import Files

@Suite("Files that the command carries")
struct EmbeddedFileTests {
  @Test("a file is there whole, whatever bytes it has")
  func whole() {
    #expect(EmbeddedFile.pageStyle.text.hasPrefix(":root {\n"))
    #expect(EmbeddedFile.pageStyle.text.hasSuffix("}\n"))
    #expect(EmbeddedFile.pytestPlugin.text.contains("[\"…\"]"))
  }

  @Test(
    "a name is replaced by its value, and one that has a line for itself by the lines of its value",
    arguments: [
      ("a {{one}} and {{two}}\n", "a 1 and {{one}}\n"), ("{{none}}{{one}}\n", "1\n"),
      ("a\n  {{lines}}\nb\n", "a\n  x\n\n    y\nb\n"), ("a\n  {{none}}\nb\n", "a\nb\n"),
      ("a {{lines}}\n", "a x\n\n  y\n\n"),
      ("{{ one }} ${{ two }} {{three}}\n", "{{ one }} ${{ two }} {{three}}\n"),
      ("{{one\n{{\n}}\n", "{{one\n{{\n}}\n"),
    ])
  func filling(text: String, result: String) {
    let values = ["one": "1", "two": "{{one}}", "none": "", "lines": "x\n\n  y\n"]
    expect(filled(text, values), result)
  }
}
