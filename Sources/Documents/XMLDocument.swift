import CExpat

/// A text of an XML document, with the position of each of its bytes in the file.
public struct XMLText: Equatable, Sendable {
  /// The text, with its references replaced.
  public private(set) var text: String
  /// For each byte of the text in UTF-8, and for its end, the offset in the file.
  private var offsets: [Int]

  init(_ bytes: [UInt8], offsets: [Int]) {
    text = String(decoding: bytes, as: UTF8.self)
    self.offsets = offsets
  }

  /// The part of the file in which the text is.
  public var range: Range<Int> { offsets[0]..<offsets[offsets.count - 1] }

  /// Returns the part of the file in which a part of the text is, in bytes of UTF-8.
  public func range(of part: Range<Int>) -> Range<Int> {
    let last = offsets.count - 1
    return offsets[min(part.lowerBound, last)]..<offsets[min(part.upperBound, last)]
  }

  mutating func append(_ bytes: [UInt8], offsets new: [Int]) {
    text += String(decoding: bytes, as: UTF8.self)
    offsets.removeLast()
    offsets += new
  }
}

/// An element of an XML document.
public struct XMLElement: Sendable {
  /// An attribute.
  public struct Attribute: Sendable {
    /// The namespace; empty if the name has no prefix.
    public var namespace: String
    /// The name without its prefix.
    public var name: String
    /// The value.
    public var value: XMLText
    /// The part of the file in which the name is.
    public var nameRange: Range<Int>
  }

  /// The namespace; empty if there is none.
  public var namespace: String
  /// The name without its prefix.
  public var name: String
  /// The attributes, in their order, without declarations of namespaces.
  public var attributes: [Attribute]
  /// The elements within.
  public var children: [XMLElement] = []
  /// The text within, without that of the elements; `nil` if there is none.
  public var text: XMLText?
  /// The part of the file in which the start tag is.
  public var range: Range<Int>

  /// Returns the value of an attribute without a namespace.
  public subscript(name: String) -> XMLText? {
    attributes.first { $0.name == name && $0.namespace.isEmpty }?.value
  }
}

/// An XML document: its elements, and the text from which they were read.
///
/// A document type is refused, so that no entity is ever expanded.
public struct XMLDocument: Sendable {
  /// The text.
  public let source: Source
  /// The outermost element.
  public let root: XMLElement
  private let lines: [Int]

  /// Reads a document in UTF-8.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the file in messages, usually its path.
  ///   - limits: The limits on the file.
  /// - Throws: The first problem of the document.
  public init(_ bytes: [UInt8], name: String, limits: Limits = Limits()) throws(DocumentError) {
    try limits.check(byteCount: bytes.count, name: name)
    source = Source(name: name, bytes: bytes)
    lines = lineStarts(of: bytes)
    let builder = ElementBuilder(bytes, limits)
    do {
      root = try builder.parse()
    } catch {
      let problem = Problem(
        error.code, at: place(of: error.range.lowerBound, in: bytes, lines),
        to: place(of: error.range.upperBound, in: bytes, lines), error.message, hint: error.hint)
      throw DocumentError(source: source, problems: [problem])
    }
  }

  /// Returns the position of a byte of the file.
  public func position(at offset: Int) -> Position {
    place(of: offset, in: source.bytes, lines)
  }
}

/// The offsets at which lines start.
private func lineStarts(of bytes: [UInt8]) -> [Int] {
  var starts = [0]
  for (index, byte) in bytes.enumerated() {
    let isBreak =
      byte == UInt8(ascii: "\n")
      || byte == UInt8(ascii: "\r") && (index + 1 == bytes.count || bytes[index + 1] != UInt8(ascii: "\n"))
    if isBreak { starts.append(index + 1) }
  }
  return starts
}

private func place(of offset: Int, in bytes: [UInt8], _ lines: [Int]) -> Position {
  let offset = min(max(0, offset), bytes.count)
  var (low, high) = (0, lines.count)
  while high - low > 1 {
    let middle = (low + high) / 2
    if lines[middle] <= offset { low = middle } else { high = middle }
  }
  let start = low == 0 ? min(byteOrderMarkLength(bytes), offset) : lines[low]
  let column = bytes[start..<offset].count { $0 & 0xC0 != 0x80 } + 1
  return Position(line: low + 1, column: column, offset: offset)
}

/// The reason why an XML document cannot be read.
private struct XMLProblem: Error {
  var code: Problem.Code
  var range: Range<Int>
  var message: String
  var hint: Advice?
}

/// Receives the events of expat, and builds the elements.
private final class ElementBuilder {
  private let bytes: [UInt8]
  private let limits: Limits
  private var open: [XMLElement] = []
  private var root: XMLElement?
  private var count = 0
  private var problem: XMLProblem?

  /// What separates a namespace from a name: no name and no namespace contains it.
  private static let separator = UInt8(ascii: "\n")

  init(_ bytes: [UInt8], _ limits: Limits) { (self.bytes, self.limits) = (bytes, limits) }

  func parse() throws(XMLProblem) -> XMLElement {
    let (error, offset) = run()
    if let problem { throw problem }
    if let error {
      throw XMLProblem(
        code: .syntax, range: offset..<offset, message: "this is not well-formed XML: \(error)")
    }
    guard let root else { throw XMLProblem(code: .empty, range: 0..<0, message: "the file is empty") }
    return root
  }

  /// Runs expat over the text, and returns the error with which it ends, if any, and where.
  private func run() -> (error: String?, offset: Int) {
    guard let parser = unsafe XML_ParserCreateNS("UTF-8", XML_Char(Self.separator)) else {
      preconditionFailure("out of memory")
    }
    defer { unsafe XML_ParserFree(parser) }
    let receiver = unsafe Receiver(builder: self, parser: parser)
    return withExtendedLifetime(receiver) {
      unsafe XML_SetUserData(parser, Unmanaged.passUnretained(receiver).toOpaque())
      unsafe XML_SetElementHandler(
        parser,
        { data, name, attributes in
          guard let receiver = unsafe Receiver.of(data), let name = unsafe name else { return }
          // Names and values take turns.
          var names: [String] = []
          var next = unsafe attributes
          while let pointer = unsafe next, let name = unsafe pointer[0] {
            unsafe names.append(String(cString: name))
            unsafe next = pointer + 2
          }
          unsafe receiver.start(String(cString: name), names)
        },
        { data, _ in unsafe Receiver.of(data)?.end() })
      unsafe XML_SetCharacterDataHandler(parser) { data, text, count in
        guard let text = unsafe text, let receiver = unsafe Receiver.of(data) else { return }
        let buffer = unsafe UnsafeBufferPointer(start: text, count: Int(count))
        unsafe receiver.add(buffer.map { UInt8(bitPattern: $0) })
      }
      unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
        unsafe Receiver.of(data)?.refuseDocumentType()
      }
      let status = unsafe bytes.withUnsafeBytes { text in
        unsafe XML_Parse(
          parser, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), 1)
      }
      guard status != XML_STATUS_OK else { return (nil, 0) }
      let message = unsafe XML_ErrorString(XML_GetErrorCode(parser)).map { unsafe String(cString: $0) }
      return (message ?? "it cannot be read", Int(unsafe XML_GetCurrentByteIndex(parser)))
    }
  }

  /// Where expat is in the text.
  @safe
  private final class Receiver {
    private let builder: ElementBuilder
    private let parser: XML_Parser

    init(builder: ElementBuilder, parser: XML_Parser) {
      self.builder = builder
      unsafe self.parser = parser
    }

    static func of(_ data: UnsafeMutableRawPointer?) -> Receiver? {
      unsafe data.map { unsafe Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The part of the text to which the present event belongs.
    private var range: Range<Int> {
      let start = Int(unsafe XML_GetCurrentByteIndex(parser))
      return start..<start + Int(unsafe XML_GetCurrentByteCount(parser))
    }

    func start(_ name: String, _ attributes: [String]) {
      builder.start(name, attributes, at: range)
      stopAfterProblem()
    }

    func end() { builder.end() }

    func add(_ text: [UInt8]) { builder.add(text, at: range) }

    func refuseDocumentType() {
      builder.refuseDocumentType(at: range)
      stopAfterProblem()
    }

    private func stopAfterProblem() {
      if builder.problem != nil { _ = unsafe XML_StopParser(parser, XML_Bool(XML_FALSE)) }
    }
  }

  private func start(_ name: String, _ attributes: [String], at range: Range<Int>) {
    count += 1 + attributes.count
    guard open.count < limits.depth, count <= limits.nodes else {
      let message =
        open.count < limits.depth
        ? "the file has more than \(limits.nodes) elements and attributes"
        : "the elements are nested more than \(limits.depth) levels deep"
      problem = problem ?? XMLProblem(code: .tooLarge, range: range, message: message)
      return
    }
    let (namespace, local) = split(name)
    let places = attributePlaces(inTag: range)
    open.append(
      XMLElement(
        namespace: namespace, name: local,
        attributes: zip(attributes, places).map { name, place in
          let (namespace, local) = split(name)
          return XMLElement.Attribute(
            namespace: namespace, name: local, value: decoded(place.value), nameRange: place.name)
        }, range: range))
  }

  private func end() {
    guard let element = open.popLast() else { return }
    if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
  }

  private func add(_ text: [UInt8], at range: Range<Int>) {
    guard !open.isEmpty else { return }
    let isVerbatim = range.count == text.count
    let offsets =
      (0..<text.count).map { isVerbatim ? range.lowerBound + $0 : range.lowerBound } + [range.upperBound]
    let last = open.count - 1
    if open[last].text == nil {
      open[last].text = XMLText(text, offsets: offsets)
    } else {
      open[last].text?.append(text, offsets: offsets)
    }
  }

  private func refuseDocumentType(at range: Range<Int>) {
    problem =
      problem
      ?? XMLProblem(
        code: .unsupported, range: startOfTag(before: range.lowerBound)..<range.upperBound,
        message: "a document type is not read, nor are its entities",
        hint: "remove `<!DOCTYPE …>`")
  }

  private func startOfTag(before offset: Int) -> Int {
    bytes[..<offset].lastIndex(of: UInt8(ascii: "<")) ?? offset
  }

  private func split(_ name: String) -> (namespace: String, local: String) {
    let parts = name.split(separator: "\n", omittingEmptySubsequences: false)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : ("", name)
  }
}

// MARK: - Places within a tag

// Expat tells where a tag is, but not where in it the attributes are. The tag is well-formed, since expat has accepted it.
extension ElementBuilder {
  private typealias AttributePlace = (name: Range<Int>, value: Range<Int>)

  /// Returns where the attributes of a tag are, without declarations of namespaces.
  private func attributePlaces(inTag tag: Range<Int>) -> [AttributePlace] {
    var places: [AttributePlace] = []
    var offset = tag.lowerBound
    func skip(while isSkipped: (UInt8) -> Bool) {
      while offset < tag.upperBound, isSkipped(bytes[offset]) { offset += 1 }
    }
    skip { !isBlank($0) }
    while true {
      skip(while: isBlank)
      let start = offset
      skip { !isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ">") }
      let name = start..<offset
      skip { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
      guard offset < tag.upperBound else { return places }
      let quote = bytes[offset]
      offset += 1
      let value = offset
      skip { $0 != quote }
      let text = bytes[name]
      if !text.elementsEqual("xmlns".utf8), !text.starts(with: "xmlns:".utf8) {
        places.append((name, value..<offset))
      }
      offset += 1
    }
  }

  private func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  /// Returns the text of an attribute, with its references replaced and its line ends as blanks.
  private func decoded(_ range: Range<Int>) -> XMLText {
    var text: [UInt8] = []
    var offsets: [Int] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let start = offset
      var part = [bytes[offset]]
      if bytes[offset] == UInt8(ascii: "&"),
        let end = bytes[offset..<range.upperBound].firstIndex(of: UInt8(ascii: ";"))
      {
        part = replacement(of: String(decoding: bytes[offset + 1..<end], as: UTF8.self))
        offset = end
      } else if isBlank(part[0]) {
        let isPair =
          part[0] == 0x0D && offset + 1 < range.upperBound && bytes[offset + 1] == UInt8(ascii: "\n")
        if isPair { offset += 1 }
        part = [0x20]
      }
      text += part
      offsets += part.map { _ in start }
      offset += 1
    }
    return XMLText(text, offsets: offsets + [range.upperBound])
  }

  /// Returns what a reference stands for: one of the five names of XML, or the number of a character.
  private func replacement(of reference: String) -> [UInt8] {
    switch reference {
    case "lt": return [UInt8(ascii: "<")]
    case "gt": return [UInt8(ascii: ">")]
    case "amp": return [UInt8(ascii: "&")]
    case "quot": return [UInt8(ascii: "\"")]
    case "apos": return [UInt8(ascii: "'")]
    default:
      let number =
        reference.hasPrefix("#x") ? UInt32(reference.dropFirst(2), radix: 16) : UInt32(reference.dropFirst())
      return number.flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) } ?? []
    }
  }
}
