public import Basics

/// Whether text is coloured.
public enum ColorChoice: String, CaseIterable, Sendable {
  case auto, always, never
}

/// How results are printed.
public enum OutputFormat: String, CaseIterable, Sendable {
  case human, json
}

/// The console: data go to standard output, messages to standard error.
public final class Console {
  private let output: OutputFile
  /// The messages and the progress.
  public let status: StatusLine

  /// Writes to our own streams, unless others are given.
  public init(output: OutputFile = .standardOutput(), errors: sending OutputFile = .standardError()) {
    self.output = output
    status = StatusLine(errors)
  }

  /// Writes text for people.
  public func print(_ text: String) {
    let text = text.inert
    write(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n")
  }

  /// Writes a value as one line of JSON.
  public func print(_ value: JSON) { write(value.line.inertJSON + "\n") }

  /// Writes data in the requested format.
  public func print(
    in format: OutputFormat, _ text: @autoclosure () -> String, _ json: @autoclosure () -> JSON
  ) {
    switch format {
    case .human: self.print(text())
    case .json: self.print(json())
    }
  }

  /// Prints a message for the user.
  public func say(_ text: String) { status.say(text) }

  /// Performs an operation whose failure does not end the command; a failure is reported. See
  /// ``System/StatusLine/attempt(_:_:)``.
  public func attempt<Result>(_ trouble: String = "", _ body: () throws -> Result) -> Result? {
    status.attempt(trouble, body)
  }

  /// Whether standard output is a terminal.
  public var isTerminal: Bool { output.isTerminal }

  /// Whether data can no longer be written, because the reader is gone.
  public var isBroken: Bool { output.fault != nil }

  /// Whether text on that terminal can be overwritten.
  public var drawsOver: Bool { isTerminal && ![nil, "dumb"].contains(Host.variable("TERM")) && size != nil }

  /// The columns and rows of the terminal; `nil` if there is none, or they are unknown.
  public var size: (columns: Int, rows: Int)? { output.terminalSize }

  /// Moves the cursor and writes text there, in one write, with the cursor hidden.
  public func draw(_ moves: String, _ text: String = "") {
    let all = moves + text.inert
    if !all.isEmpty { write("\u{1B}[?25l" + all + "\u{1B}[?25h") }
  }

  /// Writes the remaining data; to be called at the end.
  ///
  /// - Returns: why the data could not be written completely; `nil` if it was. A reader that stops early, such as
  ///   `head`, is no failure.
  public func finish() -> FileFault? {
    try? output.finish()
    let fault = output.fault.flatMap { $0.isReadersEnd ? nil : $0 }
    if let fault { say("lockstep: not all of the output could be written: \(errorText(fault.code))") }
    status.finish()
    return fault
  }

  private func write(_ text: String) {
    // A write error is reported once, at the end.
    status.hidden { try? output.write(text) }
  }

  /// The painter for one of the streams: the decision for one does not apply to the other.
  public func painter(_ choice: ColorChoice, for stream: Stream = .output) -> Painter {
    let isTerminal = stream == .output ? output.isTerminal : status.isTerminal
    return Painter(isOn: choice.isWanted(isTerminal: isTerminal, Host.variable))
  }

  /// An output stream.
  public enum Stream {
    case output, errors
  }
}

extension ColorChoice {
  /// Whether text on a stream is coloured.
  ///
  /// The command line decides first, then `NO_COLOR` with any value (no-color.org), then `CLICOLOR_FORCE` with any
  /// value but 0 (bixense.com/clicolors), then whether the stream is a terminal with colours.
  public func isWanted(isTerminal: Bool, _ variable: (String) -> String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      if variable("NO_COLOR") != nil {
        false
      } else if let force = variable("CLICOLOR_FORCE"), force != "0" {
        true
      } else {
        isTerminal && variable("TERM") != "dumb"
      }
    }
  }
}
