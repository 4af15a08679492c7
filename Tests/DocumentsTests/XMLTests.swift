import Documents
import TestSupport
import Testing

@Suite("XML documents")
struct XMLTests {
  @Test("elements, attributes and texts have their places in the file, whatever references they contain")
  func places() throws {
    let text = """
      \u{FEFF}<?xml version="1.0" encoding="us-ascii"?>
      <n:a xmlns:n="urn:n" ö = 'ü&lt;&#x41;b' n:c="d
      e">f&amp;g<!-- h --><![CDATA[<i>]]><b/>
      </n:a>
      """
    let document = try XMLDocument(Array(text.utf8), name: "x.xml")
    func place(_ range: Range<Int>) -> String {
      "\(document.position(at: range.lowerBound))-\(document.position(at: range.upperBound))"
    }
    let root = document.root
    let content = try #require(root.text)
    let value = root.attributes[0].value
    expect(
      [
        "\(root.namespace) \(root.name) \(place(root.range))",
        "\(root.attributes.map { "\($0.namespace) \($0.name) \($0.value.text) \(place($0.nameRange))" })",
        // The letter after the two references.
        "\(place(value.range)) \(place(value.range(of: 4..<5)))",
        "\(content.text) \(place(content.range(of: 1..<2))) \(place(content.range(of: 4..<5)))",
        "\(root.children.map { "\($0.namespace) \($0.name) \(place($0.range))" })",
      ],
      [
        "urn:n a 2:1-3:4",
        "[\" ö ü<Ab 2:22-2:23\", \"urn:n c d e 2:41-2:44\"]",
        "2:27-2:39 2:38-2:39",
        "f&g<i>\n 3:5-3:10 3:31-3:32",
        "[\" b 3:36-3:40\"]",
      ])
  }

  @Test(
    "what is not XML, or could exhaust the reader, is refused where it is",
    arguments: [
      ("", "1:1: this is not well-formed XML: no element found"),
      ("<a>\n  <b></a>", "2:8: this is not well-formed XML: mismatched tag"),
      ("<a b='1' b='2'/>", "1:10: this is not well-formed XML: duplicate attribute"),
      ("<p:a/>", "1:1: this is not well-formed XML: unbound prefix"),
      ("<a>&x;</a>", "1:4: this is not well-formed XML: undefined entity"),
      ("<!DOCTYPE a [\n<!ENTITY x 'y'>]><a/>", "1:1: a document type is not read, nor are its entities"),
      ("<!DOCTYPE a SYSTEM 'x.dtd'><a/>", "1:1: a document type is not read, nor are its entities"),
      ("<a>\n<a><a><a/></a></a></a>", "2:7: the elements are nested more than 3 levels deep"),
      ("<a b='' c='' d=''><b/><b/></a>", "1:23: the file has more than 5 elements and attributes"),
    ])
  func refused(text: String, message: String) {
    let error = #expect(throws: DocumentError.self) {
      try XMLDocument(Array(text.utf8), name: "x.xml", limits: Limits(depth: 3, nodes: 5))
    }
    expect(error?.problems.map { "\($0.position): \($0.message)" }, [message])
  }
}
