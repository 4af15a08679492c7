public import Conformance
public import Documents
public import Lab
public import Basics

/// One line of a run's journal: what was done, what was seen, what came of it.
///
/// The journal is written as things happen, and every report is made from it. It holds nothing that differs
/// between two runs of one seed on emulated devices: host, name and wall-clock times stand in the manifest.
public enum JournalEntry: Sendable {
  /// A run begins, or one is taken up again. A campaign does not know how many cases it will have.
  case run(seed: UInt64, cases: Int? = nil, isResumed: Bool = false, failsFlaky: Bool = false)
  /// A case begins.
  case begin(Case)
  /// A stimulus is given.
  case stimulus(Step.Call, StepMark, at: Instant)
  /// A fault is brought about.
  case fault(Fault, StepMark, at: Instant)
  /// Time is let pass.
  case wait(Interval, StepMark, at: Instant)
  /// Time is let pass until nothing is awaited.
  case settle(StepMark, at: Instant)
  /// Time is let pass until something is shown.
  case next(StepMark, at: Instant)
  /// Something is expected, in words.
  case expect(String, StepMark, at: Instant)
  /// The scenario says something.
  case note(String, StepMark, at: Instant)
  /// The device shows something.
  case observation(Observation, Vocabulary, at: Instant)
  /// The model holds other statuses possible than before.
  case model([String], at: Instant)
  /// There is trouble in the lab, at an attempt, from 1.
  case lab(LabFault, attempt: Int, at: Instant)
  /// The lab says something: how a carrier was brought back, why a lock was left as it is. Outside of a case the
  /// time is zero.
  case remark(String, at: Instant)
  /// A real lock was left at the end of the run; what there is to say of it to people is a remark.
  case left(lock: String, LockLeave)
  /// A case ends.
  case verdict(Outcome, Case)
  /// A campaign came upon something, which was saved at a path; the case of that scenario follows.
  case finding(Finding, String)
  /// How far a campaign came.
  case campaign(CampaignStatus)
  /// The machine of a coverage that follows.
  case machine(Coverage)
  /// Which cells of a machine the run visited.
  case coverage(Coverage)
  /// The run ends.
  case end(Tally, CommandStatus)
}

/// A step's number and line.
public struct StepMark: Equatable, Sendable {
  /// The number of the step as it is written, from 1; 0 before the first.
  public var number: Int
  /// The line of the file.
  public var line: Int

  /// Marks a step.
  public init(_ number: Int, line: Int) {
    self.number = number
    self.line = line
  }

  /// Before the first step.
  public static let start = StepMark(0, line: 0)
}

/// Takes in a journal as it is written.
public protocol JournalListener: AnyObject {
  /// Takes in one entry.
  func take(_ entry: JournalEntry)
}

extension JournalListener {
  /// Takes in how devices were left: for people, and for programs.
  func take(_ leave: Leave) {
    for remark in leave.remarks { take(.remark(remark, at: .zero)) }
    for lock in leave.locks { take(.left(lock: lock.name, lock.leave)) }
  }

  /// Takes in what was visited of a machine, and the machine before it.
  func take(_ coverage: Coverage) {
    take(.machine(coverage))
    take(.coverage(coverage))
  }
}

extension JournalEntry {
  /// The version of the format.
  static let format = 1

  /// The entry as JSON, whose text is one line of the journal.
  public var json: JSON {
    switch self {
    case .run(let seed, let cases, let isResumed, let failsFlaky):
      ["run": beginning(seed, cases, isResumed, failsFlaky)]
    case .begin(let test): ["case": beginning(of: test)]
    case .stimulus(let call, let mark, let time): event(time, mark, members(of: call))
    case .fault(let fault, let mark, let time):
      event(time, mark, [.init("fault", .text(fault.name)), .init("value", JSON(fault.value))])
    case .wait(let interval, let mark, let time):
      event(time, mark, [.init("wait", .text(interval.description))])
    case .settle(let mark, let time): event(time, mark, [.init("wait", .text(ScenarioGrammar.settled))])
    case .next(let mark, let time): event(time, mark, [.init("wait", .text(ScenarioGrammar.next))])
    case .expect(let text, let mark, let time): event(time, mark, [.init("expect", .text(text))])
    case .note(let text, let mark, let time): event(time, mark, [.init("note", .text(text))])
    case .observation(let observation, let vocabulary, let time):
      event(time, nil, members(of: observation, vocabulary))
    case .model(let statuses, let time):
      event(time, nil, [.init("model", .list(statuses.map(JSON.text)))])
    case .lab(let fault, let attempt, let time):
      event(time, nil, [.init("lab", .text(fault.description)), .init("attempt", .integer(attempt))])
    case .remark(let text, let time): event(time, nil, [.init("remark", .text(text))])
    case .left(let lock, let leave): event(.zero, nil, [.init("left", left(lock, leave))])
    case .verdict(let outcome, let test): verdict(outcome, test)
    case .machine(let coverage): ["machine": coverage.machineJSON]
    case .coverage(let coverage): ["coverage": coverage.json]
    case .finding(let finding, let path): ["finding": finding.json(path: path)]
    case .campaign(let status): ["campaign": status.json]
    case .end(let tally, let status): ["end": ending(tally, status)]
    }
  }

  private func beginning(
    _ seed: UInt64, _ cases: Int?, _ isResumed: Bool, _ failsFlaky: Bool
  ) -> JSON {
    var members: [JSON.Member] = [.init("format", .integer(Self.format)), .init("seed", .integer(seed))]
    if let cases { members.append(.init("cases", .integer(cases))) }
    if isResumed { members.append(.init("resumed", .flag(true))) }
    if failsFlaky { members.append(.init("flaky", "fail")) }
    return .mapping(members)
  }

  private func beginning(of test: Case) -> JSON {
    var members: [JSON.Member] = [
      .init("id", .text(test.id)), .init("name", .text(test.name)), .init("file", .text(test.file)),
      .init("line", .integer(test.scenario.line)),
    ]
    if !test.scenario.tags.isEmpty {
      members.append(.init("tags", .list(test.scenario.tags.map(JSON.text))))
    }
    members += [
      .init("machine", .text(test.machine.label)), .init("model", .text(test.machine.hash)),
      .init("device", .text(test.device.description)),
    ]
    if let firmware = test.firmware { members.append(.init("firmware", .text(firmware))) }
    members += [.init("seed", .integer(test.seed)), .init("digest", .text(test.digest))]
    if test.attempt > 1 { members.append(.init("attempt", .integer(test.attempt))) }
    return .mapping(members)
  }

  private func event(_ time: Instant, _ mark: StepMark?, _ members: [JSON.Member]) -> JSON {
    var all: [JSON.Member] = [.init("t", .text(time.secondsText))]
    if let mark {
      all += [.init("step", .integer(mark.number)), .init("line", .integer(mark.line))]
    }
    return .mapping(all + members)
  }

  private func members(of call: Step.Call) -> [JSON.Member] {
    let arguments = call.arguments.map { JSON.Member($0.name, JSON($0.value)) }
    return [.init("stimulus", .text(call.name))]
      + (arguments.isEmpty ? [] : [.init("arguments", .mapping(arguments))])
  }

  private func members(of observation: Observation, _ vocabulary: Vocabulary) -> [JSON.Member] {
    switch observation {
    case .status(let number): [.init("status", .text(vocabulary.statuses[number]))]
    case .effect(let number): [.init("effect", .text(vocabulary.effects[number]))]
    case .unknown(let name): [.init("status", .text(name))]
    case .refused(let reason): [.init("refused", .text(reason))]
    case .reading(let reading): [.init("reading", .text(reading.name)), .init("value", JSON(reading.value))]
    case .event(let seen):
      [.init("event", .text(vocabulary.stimuli[seen.number]))]
        + (seen.detail.isEmpty ? [] : [.init("detail", .text(seen.detail))])
    case .violation(let violation): members(of: violation)
    }
  }

  private func members(of violation: Violation) -> [JSON.Member] {
    var members = [JSON.Member("violation", .text(violation.name))]
    if let subject = violation.subject { members.append(.init("of", .text(subject))) }
    members.append(.init("detail", .text(violation.detail)))
    if let packet = violation.packet {
      members += [.init("packet", .text(packet.hex)), .init("from", .text(packet.sender.rawValue))]
    }
    if let quirk = violation.quirk { members.append(.init("quirk", .text(quirk))) }
    return members
  }

  private func left(_ lock: String, _ leave: LockLeave) -> JSON {
    switch leave {
    case .atRest: ["lock": .text(lock), "atRest": true]
    case .elsewhere(let why): ["lock": .text(lock), "atRest": false, "message": .text(why)]
    case .unknown: ["lock": .text(lock)]
    }
  }

  private func verdict(_ outcome: Outcome, _ test: Case) -> JSON {
    var members: [JSON.Member] = [
      .init("verdict", .text(outcome.verdict.word)), .init("case", .text(test.id)),
      .init("t", .text(outcome.time.secondsText)),
    ]
    if let message = outcome.verdict.message {
      if outcome.mark != .start {
        members += [
          .init("step", .integer(outcome.mark.number)), .init("line", .integer(outcome.mark.line)),
        ]
      }
      members.append(.init("message", .text(message)))
    }
    if case .divergence(let divergence) = outcome.verdict {
      if !divergence.expected.isEmpty { members.append(.init("expected", .text(divergence.expected))) }
      members.append(.init("observed", .text(divergence.seen)))
      if case .violation(let violation) = divergence.kind { members += self.members(of: violation) }
      if let explanation = divergence.explanation {
        members.append(
          .init("explanation", ["cause": .text(explanation.name), "detail": .text(explanation.detail)]))
      }
      members.append(.init("details", .list(outcome.details.map(JSON.text))))
      members.append(.init("allowed", .list(divergence.allowed.map(allowance))))
      members.append(.init("signature", .text(divergence.signature)))
    }
    if !outcome.attachments.isEmpty {
      members.append(.init("attachments", .list(outcome.attachments.map(\.json))))
    }
    if let replay = outcome.replay { members.append(.init("replay", .text(replay))) }
    if outcome.isTriedAgain { members.append(.init("again", .flag(true))) }
    return .mapping(members)
  }

  private func allowance(_ item: Divergence.Allowance) -> JSON {
    var members = [JSON.Member("state", .text(item.state))]
    if !item.cause.isEmpty { members.append(.init("cause", .text(item.cause))) }
    return .mapping(members + [.init("shows", .text(item.shows))])
  }

  private func ending(_ tally: Tally, _ status: CommandStatus) -> JSON {
    [
      "cases": .integer(tally.cases), "agree": .integer(tally.agree), "flaky": .integer(tally.flaky),
      "divergences": .integer(tally.divergences), "labFaults": .integer(tally.labFaults),
      "skipped": .integer(tally.skipped), "incomplete": .integer(tally.incomplete),
      "status": .integer(status.rawValue),
    ]
  }
}

extension JSON {
  /// A value as a journal and a program write it; durations are text with a unit.
  init(_ value: Conformance.Value) {
    self =
      switch value {
      case .flag(let value): .flag(value)
      case .integer(let value): .integer(value)
      case .number(let value): .decimal(value)
      case .duration(let value): .text(value.description)
      case .text(let value): .text(value)
      }
  }
}
