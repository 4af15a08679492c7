public import System
public import Journal
import Basics

/// Prints the whole trace of a case, one event a line, with actions on the left and observations on the
/// right.
public final class TraceReport: JournalListener {
  private let console: Console
  private let paint: Painter
  private var current = Record.Case(id: "")
  private var variables = VariableRecord()

  public init(_ console: Console, _ paint: Painter) {
    self.console = console
    self.paint = paint
  }

  public func take(_ record: Record) {
    switch record {
    case .begin(let test):
      (current, variables) = (test, VariableRecord())
      console.print(paint(.strong, (test.name ?? test.id).inOneLine))
      let seed = test.seed.map { ", seed \($0)" } ?? ""
      console.print("  \(test.machine ?? "") and \(test.device ?? "")\(seed)".inOneLine + "\n\n")
    case .event(let event): if let words = words(on: event) { row(event, words) }
    case .verdict(let verdict):
      console.print((verdict.counted == .skipped ? "" : "\n") + endingText(verdict, current, paint))
    case .run, .left, .finding, .campaign, .machine, .coverage, .end: break
    }
  }

  /// The text of an event; `nil` for the model's possible states, unless variables have changed.
  private func words(on event: Record.Event) -> String? {
    let (text, value) = (event.text, event.value?.words ?? "")
    switch event.kind {
    case .stimulus:
      return text + event.arguments.map { " \($0.name): \($0.value.words)" }.joined(separator: ",")
    case .fault: return "fault \(text) \(value)"
    case .wait: return paint(.faint, "wait \(waiting[text] ?? text)")
    case .expect: return paint(.faint, "expect \(text)")
    case .note, .diagnostic: return paint(.faint, text)
    // The verdict of the case contains the same.
    case .lab: return text.isMissingDevice ? nil : paint(.warning, text)
    case .status, .effect: return shown(text)
    case .refused: return shown("refused: \(text)")
    case .reading: return shown("\(text) \(value)")
    case .event: return shown(text + (event.breach.detail.map { " (\($0))" } ?? ""))
    case .violation:
      let packet = event.breach.packetWords.map { " (\($0))" } ?? ""
      let words = "\(text): \(event.breach.detail ?? "")\(packet)"
      return shown(
        event.breach.quirk.map { "diagnostic, \(words); known: \($0)" } ?? "broke \(words)")
    case .model:
      let isStart = variables.entries.isEmpty
      let lines = variables.take(event).flatMap(\.lines)
      return isStart || lines.isEmpty
        ? nil : paint(.faint, "model: " + lines.joined(separator: "; "))
    }
  }

  /// The words for waits in scenarios.
  private var waiting: [String: String] {
    [
      Record.Event.settled: "until nothing is awaited",
      Record.Event.next: "until something is shown",
    ]
  }

  private func shown(_ text: String) -> String { "             ▸ " + text }

  private func row(_ event: Record.Event, _ text: String) {
    let number = event.step.map { "\($0)" } ?? ""
    console.print(
      "  " + event.time.description.rightAligned(in: 12) + number.rightAligned(in: 5) + "  "
        + text.inOneLine)
  }
}

extension String {
  /// Whether a lab fault is a missing device, such as a program that does not start.
  package var isMissingDevice: Bool { hasPrefix("no device: ") }
}
