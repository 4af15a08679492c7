import CYAML

/// An event that libyaml found in a text.
struct YAMLEvent {
  /// The anchor and the tag that a node may have.
  struct Properties {
    var anchor: String?
    var tag: String?
  }

  enum Kind {
    case streamStart
    case streamEnd
    case documentStart(hasTagDirectives: Bool)
    case documentEnd
    case alias(String)
    case scalar(String, Node.ScalarStyle, Properties)
    case sequenceStart(Node.Layout, Properties)
    case sequenceEnd
    case mappingStart(Node.Layout, Properties)
    case mappingEnd
  }

  var kind: Kind
  /// The start and the end, in characters.
  var start: Int
  var end: Int
}

/// The reason why libyaml cannot continue.
struct SyntaxError: Error {
  var message: String
  var context: String?
  /// In characters; `nil` if libyaml does not report it.
  var index: Int?
  var contextIndex: Int?
}

/// libyaml's parser with its own copy of the text.
///
/// The text must be UTF-8 without a byte order mark. The C structure contains a pointer to itself, so it must not
/// move; this value owns it and frees it.
@safe
struct EventParser: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>

  init(_ bytes: some Collection<UInt8>) {
    unsafe text = .allocate(capacity: bytes.count)
    _ = unsafe text.initialize(from: bytes)
    unsafe parser = .allocate(capacity: 1)
    let isReady = unsafe yaml_parser_initialize(parser) == 1
    precondition(isReady, "out of memory")
    unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe text.deallocate()
  }

  /// Returns the next event. It must not be called again after `streamEnd` or an error.
  mutating func next() throws(SyntaxError) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe YAMLEvent(
      kind: eventKind(event), start: event.start_mark.index, end: event.end_mark.index)
  }

  private func failure() -> SyntaxError {
    let error = unsafe parser.pointee
    precondition(unsafe error.error != YAML_MEMORY_ERROR, "out of memory")
    let isInText = unsafe error.error == YAML_SCANNER_ERROR || error.error == YAML_PARSER_ERROR
    let context = unsafe copied(error.context)
    return unsafe SyntaxError(
      message: copied(error.problem) ?? "this is not YAML",
      context: context,
      index: isInText ? error.problem_mark.index : nil,
      contextIndex: isInText && context != nil ? error.context_mark.index : nil)
  }
}

private func eventKind(_ event: yaml_event_t) -> YAMLEvent.Kind {
  switch unsafe event.type {
  case YAML_STREAM_START_EVENT:
    return .streamStart
  case YAML_DOCUMENT_START_EVENT:
    let directives = unsafe event.data.document_start.tag_directives
    return .documentStart(hasTagDirectives: unsafe directives.start != directives.end)
  case YAML_DOCUMENT_END_EVENT:
    return .documentEnd
  case YAML_ALIAS_EVENT:
    return .alias(unsafe copied(event.data.alias.anchor) ?? "")
  case YAML_SCALAR_EVENT:
    let scalar = unsafe event.data.scalar
    let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
    return .scalar(
      unsafe String(decoding: bytes, as: UTF8.self),
      unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE ? .plain : .quoted,
      unsafe properties(anchor: scalar.anchor, tag: scalar.tag))
  case YAML_SEQUENCE_START_EVENT:
    let start = unsafe event.data.sequence_start
    return .sequenceStart(
      unsafe start.style == YAML_FLOW_SEQUENCE_STYLE ? .flow : .block,
      unsafe properties(anchor: start.anchor, tag: start.tag))
  case YAML_SEQUENCE_END_EVENT:
    return .sequenceEnd
  case YAML_MAPPING_START_EVENT:
    let start = unsafe event.data.mapping_start
    return .mappingStart(
      unsafe start.style == YAML_FLOW_MAPPING_STYLE ? .flow : .block,
      unsafe properties(anchor: start.anchor, tag: start.tag))
  case YAML_MAPPING_END_EVENT:
    return .mappingEnd
  default:
    return .streamEnd
  }
}

private func properties(
  anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?
) -> YAMLEvent.Properties {
  unsafe YAMLEvent.Properties(anchor: copied(anchor), tag: copied(tag))
}

private func copied(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
  guard let text = unsafe text else { return nil }
  return unsafe String(cString: text)
}

private func copied(_ text: UnsafePointer<CChar>?) -> String? {
  guard let text = unsafe text else { return nil }
  return unsafe String(cString: text)
}
