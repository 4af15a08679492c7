public import Automata
public import Basics
import Documents
public import Harness

/// A language server: the Language Server Protocol 3.17, with messages as input and output.
///
/// It does no I/O: pass the editor's bytes to ``receive(_:)``, and send the messages that it returns, in order. The
/// caller supplies a function that reads machine files; documents open in the editor take precedence. The server
/// runs nothing that it analyses: of a scenario for a program, it only checks what does not require the program's
/// answers.
///
///     begun ──initialize──▶ running ──shutdown──▶ closing
///       └────────── exit, or end of input ────────────┴──▶ ended: 0 after `shutdown`, else 1
public struct EditorServer {
  private enum Phase {
    case begun, running, closing
  }

  /// The exit status once the server has stopped; `nil` before.
  public private(set) var status: Int32?

  private var phase = Phase.begun
  private var frames = MessageFrames()
  private var encoding = PositionEncoding.utf16
  /// The position encoding, as named by the protocol.
  var encodingName: String { encoding.rawValue }
  private var documents: [OpenDocument] = []
  /// The documents whose problems must be published again.
  private var stale: [String] = []
  /// Whether to ask the editor for notifications of changed files.
  private var watchesFiles = false
  private let version: String
  private let workspace: EditorWorkspace

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - definitions: the built-in machines.
  ///   - provider: the devices; only emulated ones are asked for their abilities.
  ///   - settings: the format of settings files.
  ///   - version: the version that the server reports.
  ///   - readMachine: reads a machine file.
  public init(
    _ definitions: [MachineDefinition], provider: any DeviceProvider, settings: SettingsFormat,
    version: String,
    readMachine: @escaping (String) throws(MachineLibrary.Missing) -> MachineFile
  ) {
    self.version = version
    workspace = EditorWorkspace(definitions, provider: provider, settings: settings, read: readMachine)
  }

  /// Receives bytes from the editor: whole messages or parts of them.
  ///
  /// - Returns: the messages to send, in order.
  public mutating func receive(_ bytes: some Collection<UInt8>) -> [JSON] {
    var answers: [JSON] = []
    frames.append(bytes)
    while status == nil, let frame = frames.next() {
      switch frame {
      case .message(let bytes): answers += take(bytes)
      case .fault(let reason):
        answers.append(Self.failure(nil, .parse, reason))
        status = 1
      }
    }
    return phase == .running ? answers + publishProblems() : answers
  }

  /// Handles the end of the input.
  public mutating func end() {
    if status == nil { status = phase == .closing ? 0 : 1 }
  }
}

// MARK: - Messages

extension EditorServer {
  enum ErrorCode: Int {
    case parse = -32700
    case invalidRequest = -32600
    case unknownMethod = -32601
    case invalidParameters = -32602
    case notInitialized = -32002
  }

  private struct Refusal: Error {
    var code: ErrorCode
    var message: String

    init(_ code: ErrorCode, _ message: String) {
      self.code = code
      self.message = message
    }
  }

  private static func failure(_ id: JSON?, _ code: ErrorCode, _ message: String) -> JSON {
    [
      "jsonrpc": "2.0", "id": id ?? .null,
      "error": ["code": .integer(code.rawValue), "message": .text(message)],
    ]
  }

  private mutating func take(_ bytes: [UInt8]) -> [JSON] {
    let message: JSON
    do {
      message = try JSON(parsing: bytes.span, isLenient: true)
    } catch {
      return [Self.failure(nil, .parse, "this is no JSON: \(error)")]
    }
    guard let method = message["method"]?.string else {
      // The server does not need the results of its requests.
      if message["id"] != nil, message["result"] != nil || message["error"] != nil { return [] }
      return [Self.failure(message["id"], .invalidRequest, "a message has a `method`")]
    }
    let parameters = message["params"] ?? .null
    guard let id = message["id"] else { return notice(method, parameters) }
    do throws(Refusal) {
      return [["jsonrpc": "2.0", "id": id, "result": try answer(method, parameters)]]
    } catch {
      return [Self.failure(id, error.code, error.message)]
    }
  }

  /// Handles a notification, which has no response.
  private mutating func notice(_ method: String, _ parameters: JSON) -> [JSON] {
    if method == "exit" {
      end()
      return []
    }
    guard phase == .running else { return [] }
    switch method {
    case "initialized": return watchesFiles ? [Self.watching] : []
    case "textDocument/didOpen": open(parameters)
    case "textDocument/didChange": change(parameters)
    case "textDocument/didClose": return close(parameters)
    // Other open documents may depend on the saved machine.
    case "textDocument/didSave", "workspace/didChangeWatchedFiles": refresh()
    default: break
    }
    return []
  }

  private mutating func answer(_ method: String, _ parameters: JSON) throws(Refusal) -> JSON {
    switch (phase, method) {
    case (.begun, "initialize"): return initialize(parameters)
    case (.begun, _): throw Refusal(.notInitialized, "`initialize` comes before `\(method)`")
    case (.closing, _): throw Refusal(.invalidRequest, "nothing is answered behind `shutdown`")
    case (.running, "initialize"): throw Refusal(.invalidRequest, "`initialize` was asked for already")
    case (.running, "shutdown"):
      phase = .closing
      return .null
    case (.running, "textDocument/completion"):
      let (document, offset) = try place(parameters)
      return .list(EditorAnswers(document, workspace, encoding).completions(at: offset))
    case (.running, "textDocument/hover"):
      let (document, offset) = try place(parameters)
      return EditorAnswers(document, workspace, encoding).hover(at: offset) ?? .null
    case (.running, "textDocument/definition"):
      let (document, offset) = try place(parameters)
      return .list(EditorAnswers(document, workspace, encoding).definitions(at: offset))
    case (.running, "textDocument/codeAction"): return try fixes(parameters)
    case (.running, _): throw Refusal(.unknownMethod, "there is no method `\(method)`")
    }
  }

  private mutating func initialize(_ parameters: JSON) -> JSON {
    phase = .running
    let capabilities = parameters["capabilities"]
    let encodings = capabilities?["general"]?["positionEncodings"]?.strings ?? []
    // The text is stored as UTF-8; every editor supports UTF-16.
    encoding = encodings.contains(PositionEncoding.utf8.rawValue) ? .utf8 : .utf16
    watchesFiles =
      capabilities?["workspace"]?["didChangeWatchedFiles"]?["dynamicRegistration"]?.bool ?? false
    return [
      "capabilities": [
        "positionEncoding": .text(encoding.rawValue),
        "textDocumentSync": ["openClose": true, "change": 2, "save": true],
        "completionProvider": ["triggerCharacters": [" ", "{", "[", ","]], "hoverProvider": true,
        "definitionProvider": true, "codeActionProvider": ["codeActionKinds": ["quickfix"]],
      ], "serverInfo": ["name": "lockstep", "version": .text(version)],
    ]
  }

  /// The request for notifications of files changed elsewhere.
  private static let watching: JSON = [
    "jsonrpc": "2.0", "id": "watched-files", "method": "client/registerCapability",
    "params": [
      "registrations": [
        [
          "id": "watched-files", "method": "workspace/didChangeWatchedFiles",
          "registerOptions": ["watchers": [["globPattern": "**/*.{yaml,yml,dot,gv,scxml}"]]],
        ]
      ]
    ],
  ]

  private func place(_ parameters: JSON) throws(Refusal) -> (OpenDocument, Int) {
    guard let position = EditorPosition(parameters["position"]) else {
      throw Refusal(.invalidParameters, "a `position` has a `line` and a `character`")
    }
    let document = documents[try number(of: parameters)]
    return (document, document.text.offset(of: position, encoding))
  }

  private func number(of parameters: JSON) throws(Refusal) -> Int {
    guard let uri = parameters["textDocument"]?["uri"]?.string else {
      throw Refusal(.invalidParameters, "a `textDocument` has a `uri`")
    }
    guard let number = documents.firstIndex(where: { $0.uri == uri }) else {
      throw Refusal(.invalidParameters, "\(uri) is not open")
    }
    return number
  }
}

// MARK: - Documents

extension EditorServer {
  private mutating func open(_ parameters: JSON) {
    let given = parameters["textDocument"]
    guard let uri = given?["uri"]?.string, let text = given?["text"]?.string else { return }
    documents.removeAll { $0.uri == uri }
    documents.append(OpenDocument(uri: uri, version: given?["version"], text: text))
    changed(documents.count - 1)
  }

  private mutating func change(_ parameters: JSON) {
    guard let number = try? number(of: parameters) else { return }
    if let version = parameters["textDocument"]?["version"] { documents[number].version = version }
    _ = documents[number].apply(parameters["contentChanges"]?.elements ?? [], encoding)
    changed(number)
  }

  private mutating func close(_ parameters: JSON) -> [JSON] {
    guard let number = try? number(of: parameters) else { return [] }
    let document = documents.remove(at: number)
    stale.removeAll { $0 == document.uri }
    workspace.overlay(document.path, nil)
    if document.kind == .machine { refresh() }
    return [Self.publishing(document.uri, [], version: nil)]
  }

  private mutating func changed(_ number: Int) {
    let document = documents[number]
    guard document.kind == .machine || workspace.hasOverlay(document.path) else {
      return publish(document.uri)
    }
    // Open scenarios may depend on this machine.
    workspace.overlay(document.path, document.kind == .machine ? document.text.bytes : nil)
    refresh()
  }

  /// Discards everything read from files, and checks all documents again.
  private mutating func refresh() {
    workspace.forget()
    for number in documents.indices {
      documents[number].problems = nil
      publish(documents[number].uri)
    }
  }

  private mutating func publish(_ uri: String) {
    if !stale.contains(uri) { stale.append(uri) }
  }

  /// Returns the problems of the changed documents, once per document.
  private mutating func publishProblems() -> [JSON] {
    defer { stale = [] }
    return stale.compactMap { uri in
      guard let number = documents.firstIndex(where: { $0.uri == uri }) else { return nil }
      let problems = problems(of: number)
      let document = documents[number]
      return Self.publishing(
        uri, problems.map { document.json(of: $0, encoding) }, version: document.version)
    }
  }

  private static func publishing(_ uri: String, _ diagnostics: [JSON], version: JSON?) -> JSON {
    [
      "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics",
      "params": .omittingNil(["uri": .text(uri), "version": version, "diagnostics": .list(diagnostics)]),
    ]
  }

  private mutating func problems(of number: Int) -> [Problem] {
    if let known = documents[number].problems { return known }
    let problems = workspace.problems(of: documents[number])
    documents[number].problems = problems
    return problems
  }

  /// Returns the quick fixes for the problems within a range.
  private mutating func fixes(_ parameters: JSON) throws(Refusal) -> JSON {
    let number = try number(of: parameters)
    guard let start = EditorPosition(parameters["range"]?["start"]),
      let end = EditorPosition(parameters["range"]?["end"])
    else { throw Refusal(.invalidParameters, "a `range` has a `start` and an `end`") }
    if let kinds = parameters["context"]?["only"]?.strings,
      !kinds.contains(where: { $0.isEmpty || $0 == "quickfix" })
    {
      return []
    }
    let problems = problems(of: number)
    let document = documents[number]
    let range = (document.text.offset(of: start, encoding), document.text.offset(of: end, encoding))
    let touched = problems.filter { problem in
      problem.position.offset <= range.1 && (problem.end ?? problem.position).offset >= range.0
    }
    return .list(touched.compactMap { document.fix(of: $0, encoding) })
  }
}
