import Basics
import TestSupport
import Testing

@Suite("JSON")
struct JSONTests {
  @Test(
    "what is read is what was written",
    arguments: [
      #"{"a":[1,-0.5,1e+30,"x"],"b":{"c":null,"d":true,"e":false},"f":[],"g":{}}"#,
      #""\"\\\n\r\t\u0001\u007fé𝄞""#, "18446744073709551615", "[[[[]]]]",
    ])
  func roundTrip(text: String) throws {
    expect(try JSON(parsing: text).line, text)
    let value = try JSON(parsing: text)
    expect(try JSON(parsing: value.indented), value)
  }

  @Test("escapes are joined to characters")
  func escapes() throws {
    expect(try JSON(parsing: #""\ud834\udd1e\/\b\fA""#), .text("𝄞/\u{8}\u{C}A"))
  }

  @Test(
    "what is no JSON is refused where it goes wrong",
    arguments: [
      ("", "expected a JSON value at byte 0"), ("{\"a\":1,}", "expected a name in quotes at byte 7"),
      ("{\"a\":1,\"a\":2}", "expected 'a' only once at byte 7"), ("[1 2]", "expected ',' or ']' at byte 3"),
      ("01", "expected nothing more at byte 1"), ("1.", "expected a digit at byte 2"),
      ("nul", "expected 'null' at byte 0"), ("\"a", "expected the closing quote at byte 2"),
      ("\"\u{1}\"", "expected a control character to be escaped at byte 1"),
      (#""\x""#, "expected an escape that JSON knows at byte 2"),
      (#""\ud800""#, "expected both halves of a character at byte 7"),
      (#""\u12g4""#, "expected four hexadecimal digits at byte 3"),
      ("{1:2}", "expected a name in quotes at byte 1"),
      ("[1]x", "expected nothing more at byte 3"), ("{\"a\" 1}", "expected ':' at byte 5"),
      ("NaN", "expected a JSON value at byte 0"),
    ])
  func refused(text: String, reason: String) {
    #expect { try JSON(parsing: text) } throws: { "\($0)" == reason }
  }

  @Test("values nested too deep, and bytes that are no UTF-8, are refused and do not trap")
  func limits() {
    #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "[", count: 100_000)) }
    #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
  }
}
