import Documents
import Harness
import Transports

/// Whether text is coloured.
enum ColorChoice: String, Choice {
  case auto, always, never
}

/// Data goes to standard output, talk to standard error.
final class Console {
  /// What the words on a line are.
  enum Style: String {
    case good = "\u{1B}[32m"
    case bad = "\u{1B}[31m"
    case warning = "\u{1B}[33m"
    case faint = "\u{1B}[2m"
    case strong = "\u{1B}[1m"
  }

  private let output: OutputFile
  /// What is said, and how far things are.
  let status: StatusLine

  init() {
    output = .standardOutput()
    status = StatusLine(.standardError())
  }

  /// Writes data, as it is.
  func print(_ text: String) {
    write(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n")
  }

  /// Writes a value as one line of JSON.
  func print(_ value: JSON) { write(value.line + "\n") }

  /// Says something to whoever looks on.
  func say(_ text: String) { status.say(text) }

  /// Whether a person looks at the data.
  var isTerminal: Bool { output.isTerminal }

  /// Whether what stands on that person's terminal can be drawn over.
  var drawsOver: Bool { isTerminal && ![nil, "dumb"].contains(Host.variable("TERM")) && size != nil }

  /// The columns and rows of the terminal; `nil` where there is none, or it does not tell.
  var size: (columns: Int, rows: Int)? { output.terminalSize }

  /// Writes what moves the cursor, as a whole, with the cursor hidden meanwhile.
  func draw(_ text: String) {
    if !text.isEmpty { write("\u{1B}[?25l" + text + "\u{1B}[?25h") }
  }

  /// Writes what waited for more; to be called when there is no more.
  func finish() {
    try? output.finish()
    status.finish()
  }

  private func write(_ text: String) {
    // Where the console itself is gone, there is nobody to tell.
    status.hidden { try? output.write(text) }
  }

  /// Paints words for one of the streams: what is decided for one says nothing of the other.
  func painter(_ choice: ColorChoice, for stream: Stream = .output) -> Painter {
    let isTerminal = stream == .output ? output.isTerminal : status.isTerminal
    return Painter(isOn: choice.isWanted(isTerminal: isTerminal, Host.variable))
  }

  /// Where text goes.
  enum Stream {
    case output, errors
  }
}

extension ColorChoice {
  /// Whether text on a stream is coloured.
  ///
  /// What is said on the command line counts first, then `NO_COLOR` with any value (no-color.org), then
  /// `CLICOLOR_FORCE` with any but 0 (bixense.com/clicolors), then whether the stream is a terminal that has colours.
  func isWanted(isTerminal: Bool, _ variable: (String) -> String?) -> Bool {
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

/// Colours words, or leaves them as they are.
struct Painter {
  let isOn: Bool

  func callAsFunction(_ style: Console.Style, _ text: String) -> String {
    isOn ? style.rawValue + text + "\u{1B}[0m" : text
  }
}
