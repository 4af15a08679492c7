import Automata
import Basics
import Conformance
import TestSupport
import Testing

@Suite("Values that a device offers")
struct OfferedValueTests {
  private static let minutes = ValueForm.Kind.duration(.zero ... .seconds(300))

  @Test(
    "are read as the machine has them, or not at all",
    arguments: [
      (minutes, .integer(2), .duration(.seconds(2))), (minutes, .number(0.25), .duration(.milliseconds(250))),
      (minutes, .duration(.seconds(300)), .duration(.seconds(300))), (minutes, .integer(600), nil),
      (minutes, .integer(-1), nil), (minutes, .number(1e300), nil), (minutes, .text("foo"), nil),
      (.wholeNumber(0...5), .integer(5), .integer(5)), (.wholeNumber(0...5), .integer(6), nil),
      (.wholeNumber(0...5), .number(1.5), nil), (.number(0...1), .integer(1), .integer(1)),
      (.number(0...1), .number(1.5), nil), (.flag, .flag(true), .flag(true)), (.flag, .integer(1), nil),
      (.text, .text("1234"), .text("1234")), (.text, .integer(1234), nil),
      (.choice(["a", "b"]), .text("b"), .text("b")), (.choice(["a", "b"]), .text("c"), nil),
    ] as [(ValueForm.Kind, Value, Value?)])
  func reading(kind: ValueForm.Kind, value: Value, expected: Value?) {
    expect(value.read(as: kind), expected)
  }
}
