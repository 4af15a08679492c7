import Synchronization

/// Standard error, with a progress line at the bottom of the terminal.
///
/// All other output, to this stream or to standard output, goes above that line. Threads may share it.
public final class StatusLine: Sendable {
  fileprivate struct State {
    let file: OutputFile
    /// The text on the terminal now.
    var shown = ""
  }

  private let state: Mutex<State>

  /// Writes to a file, which may be a terminal.
  public init(_ file: sending OutputFile) {
    state = Mutex(State(file: file))
  }

  /// Whether it is a terminal.
  public var isTerminal: Bool { state.withLock { $0.file.isTerminal } }

  /// The columns of the terminal; 80 if they are unknown.
  public var columns: Int { state.withLock { $0.columns } }

  /// Writes one or more lines above it.
  public func say(_ text: String) {
    let text = text.inert
    state.withLock { state in
      state.write(state.erasing + (text.hasSuffix("\n") ? text : text + "\n") + state.shown)
    }
  }

  /// Replaces the text; an empty one removes it.
  public func show(_ text: String) {
    let text = text.inert
    state.withLock { state in
      guard text != state.shown else { return }
      let erasing = state.erasing
      state.shown = text
      state.write(erasing + text)
    }
  }

  /// Writes the text that waits for more; to be called at the end.
  public func finish() { state.withLock { state in try? state.file.finish() } }

  /// Runs a function with the line hidden, such as one that writes to standard output.
  public func hidden(_ body: () -> Void) {
    state.withLock { state in
      if !state.shown.isEmpty { state.write(state.erasing) }
      body()
      if !state.shown.isEmpty { state.write(state.shown) }
    }
  }
}

extension StatusLine {
  /// Performs an operation whose failure does not end everything; a failure is reported.
  ///
  /// - Parameter trouble: the consequence of a failure, printed before its reason.
  /// - Returns: the result; `nil` after a failure.
  public func attempt<Result>(_ trouble: String = "", _ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      say("lockstep: \(trouble)\(error)")
      return nil
    }
  }
}

extension StatusLine.State {
  var columns: Int { file.terminalSize?.columns ?? 80 }

  /// The sequence that erases the line. A terminal that became narrower has wrapped it.
  var erasing: String {
    guard !shown.isEmpty else { return "" }
    let rows = (visibleWidth(shown) + columns - 1) / columns
    return (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\r\u{1B}[J"
  }

  func write(_ text: String) {
    // If the console itself has failed, there is nowhere to report it.
    if !text.isEmpty { try? file.write(text) }
  }
}
