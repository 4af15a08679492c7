/// What a report says of one case that did not pass, for people.
struct CaseText {
  /// The case.
  var start: Journal.Case
  /// How it ended, or `nil` when it has no verdict.
  var verdict: Journal.Verdict?
  /// The time, step and line of the last event, for what the verdict does not say.
  var lastEvent: Journal.Event?
  /// What happened, a line for each event.
  var trace = HeadAndTail()

  /// One line that says why.
  var message: String {
    if let message = verdict?.message, !message.isEmpty { return message }
    switch verdict?.word {
    case .agree: return "model and device agreed"
    case .divergence: return "model and device disagree"
    case .labFault: return "the lab failed"
    case .skipped: return "not tried"
    case .incomplete: return "not brought to an end"
    case nil: return "the run ended before this case had a verdict"
    }
  }

  /// Step, expectation, observation, seed and the way back first; then the message again, for readers that ignore
  /// attributes, and what else there is to say.
  var body: String {
    var lines = [place]
    if let expected = verdict?.expected { lines.append("expected: \(expected)") }
    if let observed = verdict?.observed { lines.append("observed: \(observed)") }
    if let seed = start.seed { lines.append("seed: \(seed)") }
    if let replay = verdict?.replay { lines.append("replay: \(replay)") }
    lines += ["", message]
    var text = HeadAndTail()
    text.append(lines.joined(separator: "\n"))
    for detail in verdict?.details ?? [] { text.append("\n" + detail) }
    return text.text
  }

  private var place: String {
    let step = verdict?.step ?? lastEvent?.step
    let line = verdict?.line ?? lastEvent?.line
    let file = [start.file, line.map(String.init)].compactMap(\.self).joined(separator: ":")
    let time = (verdict?.time ?? lastEvent?.time).map { "t = \($0) s" }
    return [step.map { "step \($0)" } ?? "before the first step", time, file.isEmpty ? nil : file]
      .compactMap(\.self).joined(separator: ", ")
  }

  /// Adds an event to the trace: its time, the step that starts with it, and what it is.
  mutating func add(_ event: Journal.Event) {
    lastEvent = Journal.Event(
      time: event.time, step: event.step ?? lastEvent?.step, line: event.line ?? lastEvent?.line,
      model: nil, content: [])
    var words = [String(repeating: " ", count: max(0, 10 - event.time.count)) + event.time]
    if let step = event.step {
      words.append("step \(step)" + (event.line.map { " (line \($0))" } ?? ""))
    }
    for member in event.content {
      // The value of a reading or a fault stands after its name.
      words.append(member.key == "value" ? "= \(member.value)" : "\(member.key) \(member.value)")
    }
    trace.append(words.joined(separator: "  ") + "\n")
  }

  /// Adds a line that could not be read.
  mutating func add(_ problem: Journal.Problem) {
    trace.append("(\(problem) of the journal)\n")
  }
}
