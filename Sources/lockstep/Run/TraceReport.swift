import Conformance
import Harness
import Basics

/// Prints the whole trace of a case, an event a line: what was done to the left, what was seen to the right.
final class TraceReport: JournalListener {
  private let console: Console
  private let paint: Painter

  init(_ console: Console, _ paint: Painter) {
    self.console = console
    self.paint = paint
  }

  func take(_ entry: JournalEntry) {
    switch entry {
    case .begin(let test):
      console.print(paint(.strong, test.name))
      console.print("  \(test.machine.label) and \(test.device), seed \(test.seed)\n\n")
    case .stimulus(let call, let mark, let time):
      let arguments = call.arguments.map { " \($0.name): \($0.value)" }.joined(separator: ",")
      row(time, mark, call.name + arguments)
    case .fault(let fault, let mark, let time): row(time, mark, "fault \(fault.name) \(fault.value)")
    case .wait(let interval, let mark, let time): row(time, mark, paint(.faint, "wait \(interval)"))
    case .next(let mark, let time): row(time, mark, paint(.faint, "wait until something is shown"))
    case .settle(let mark, let time): row(time, mark, paint(.faint, "wait until nothing is awaited"))
    case .expect(let text, let mark, let time): row(time, mark, paint(.faint, "expect \(text)"))
    case .note(let text, let mark, let time): row(time, mark, paint(.faint, text))
    case .observation(let observation, let vocabulary, let time):
      row(time, nil, "             ▸ " + vocabulary.text(of: observation))
    case .lab(let fault, _, let time): row(time, nil, paint(.warning, "\(fault)"))
    case .remark(let text, let time): row(time, nil, paint(.faint, text))
    case .verdict(let outcome, let test): verdict(outcome, test)
    case .run, .model, .left, .finding, .campaign, .machine, .coverage, .end: break
    }
  }

  private func row(_ time: Instant, _ mark: StepMark?, _ text: String) {
    let number = mark.map { "\($0.number)" } ?? ""
    console.print("  " + right(time.description, 12) + right(number, 5) + "  " + text)
  }

  private func verdict(_ outcome: Outcome, _ test: Case) {
    switch outcome.verdict {
    case .agree: console.print(paint(.good, "\n✔ model and device agree, t = \(outcome.time)"))
    case .skipped(let reason): console.print("skipped: \(reason)")
    case .divergence, .labFault, .incomplete, .limited:
      console.print("\n" + failureText(outcome, test, paint))
    }
  }

  private func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
