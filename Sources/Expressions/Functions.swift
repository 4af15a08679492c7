/// A function of expressions: what editors offer, and what pages list.
public struct Function: Equatable, Sendable {
  /// The name.
  public var name: String
  /// How it is written, such as `list.take(count)`.
  public var signature: String
  /// What it gives, in one sentence.
  public var summary: String

  /// All functions, in the order of the page on machine files.
  public static let all: [Function] = [
    Function(
      "size", "value.size()", "The number of elements, entries, characters or bytes. Also size(value)."),
    Function("contains", "value.contains(part)", "Whether a list has an element, or a text or bytes a part."),
    Function("startsWith", "text.startsWith(prefix)", "Whether a text or bytes begin with others."),
    Function("endsWith", "text.endsWith(suffix)", "Whether a text or bytes end with others."),
    Function(
      "substring", "text.substring(from, to)",
      "The characters from one index up to another, or up to the end."),
    Function("slice", "value.slice(from, to)", "The elements or bytes from one index up to another."),
    Function("first", "list.first()", "The first element; absent if the list is empty."),
    Function("last", "list.last()", "The last element; absent if the list is empty."),
    Function(
      "at", "value.at(index)",
      "The element or byte at an index, from 0; of a list, -1 is the last. Also value[index]."),
    Function("indexOf", "list.indexOf(element)", "The index of the first such element, or -1."),
    Function("append", "list.append(element)", "The list with one more element at its end."),
    Function("prepend", "list.prepend(element)", "The list with one more element at its beginning."),
    Function("take", "list.take(count)", "The first elements, at most so many; the count is a constant."),
    Function("drop", "list.drop(count)", "The list without its first elements."),
    Function(
      "remove", "value.remove(index or key)",
      "The list without the element at an index, or the map without a key."),
    Function("replace", "list.replace(index, element)", "The list with another element at an index."),
    Function("put", "map.put(key, value)", "The map with an entry; absent if the map is full."),
    Function("join", "list.join(separator)", "The texts of a list, with a text between them."),
    Function("int", "int(value)", "A number without its fraction, or the integer that a text contains."),
    Function("double", "double(value)", "An integer, or the text of a number, as a number."),
    Function("string", "string(value)", "A flag, an integer, a number or bytes as a text."),
    Function("bytes", "bytes(text)", "The UTF-8 bytes of a text."),
    Function(
      "duration", "duration('1m30s')", "A constant length of time, with the units h, m, s, ms, us and ns."),
    Function("seconds", "seconds(integer)", "A length of time of so many seconds."),
    Function("milliseconds", "milliseconds(integer)", "A length of time of so many milliseconds."),
    Function("getSeconds", "duration.getSeconds()", "The whole seconds of a length of time."),
    Function("getMilliseconds", "duration.getMilliseconds()", "The whole milliseconds of a length of time."),
    Function("min", "min(left, right)", "The lesser of two values."),
    Function("max", "max(left, right)", "The greater of two values."),
    Function(
      "littleEndian", "littleEndian(bytes)", "The integer of up to eight bytes, the least significant first."),
    Function(
      "bigEndian", "bigEndian(bytes)", "The integer of up to eight bytes, the most significant first."),
    Function(
      "littleEndianBytes", "littleEndianBytes(integer, count)",
      "The least significant bytes of an integer, that one first."),
    Function(
      "bigEndianBytes", "bigEndianBytes(integer, count)",
      "The least significant bytes of an integer, that one last."),
    Function("crc8", "crc8(bytes)", "CRC-8/SMBUS of bytes."),
    Function("crc16", "crc16(bytes)", "CRC-16/CCITT-FALSE of bytes."),
    Function("crc32", "crc32(bytes)", "CRC-32/ISO-HDLC of bytes."),
  ]

  /// The names of macros of CEL, which are loops.
  static let macros: Set = ["all", "exists", "exists_one", "map", "filter", "has"]

  init(_ name: String, _ signature: String, _ summary: String) {
    (self.name, self.signature, self.summary) = (name, signature, summary)
  }
}
