/// What a run wrote down, one JSON object a line, while it ran.
///
/// The lines and their keys are described in <doc:Journal-format>. Keys that are not known are passed over, so that a
/// newer writer can say more.
public enum Journal {
  /// The newest version of the format that is understood.
  public static let format = 1

  /// The first line: how the run was started.
  public struct Run: Hashable, Sendable {
    /// The seed of the run.
    public var seed: String?
    /// How many cases it was to have.
    public var cases: Int?
    /// Whether it takes up again what stands before.
    public var isResumed: Bool
    /// Whether a case that is flaky counts as one that diverges.
    public var failsFlaky: Bool
    /// The words after the name of the command.
    public var command: [String]
  }

  /// The line a case starts with.
  public struct Case: Hashable, Sendable {
    /// What verdicts name the case by; unique within a run unless the case is repeated.
    public var id: String
    /// Its title.
    public var name: String?
    /// The file it was read from.
    public var file: String?
    /// The line in that file, from 1.
    public var line: Int?
    /// The machine that is the model.
    public var machine: String?
    /// The device under test.
    public var device: String?
    /// The seed of the case.
    public var seed: String?
    /// A hash of the machine, the same on every host.
    public var model: String?
    /// The firmware of the device, where it is known.
    public var firmware: String?
    /// A hash of everything that the case is made of: two cases of one digest are the same test.
    public var digest: String?
    /// Which try this is, from 1; a case that is tried again has a line and a verdict for each.
    public var attempt: Int
    /// The tags of the scenario.
    public var tags: [String]
    /// The number of the lease of the lock, where one was needed.
    public var lease: String?
  }

  /// Something that was done, observed or found, at a time.
  public struct Event: Hashable, Sendable {
    /// Seconds since the start of the case, as written.
    public var time: String
    /// The number of the step, where one starts.
    public var step: Int?
    /// The line of the scenario.
    public var line: Int?
    /// The statuses that the model holds possible from now on; `nil` where they are the ones from before.
    public var model: [String]?
    /// Everything else it says, in the order of the line: the kind of event, such as `status`, and its value first.
    public var content: [JSONValue.Member]

    /// Whether it is said beside the comparison: by the lab, or of a habit that devices of this kind are known for.
    public var isRemark: Bool {
      content.first?.key == "remark" || content.contains { $0.key == "quirk" }
    }
  }

  /// How a real lock was left at the end of a run.
  public struct Left: Hashable, Sendable {
    /// What the run calls the lock.
    public var lock: String
    /// Whether it is where it is to rest; `nil` where nobody knows.
    public var isAtRest: Bool?
    /// Why it is not, in one line.
    public var message: String?
  }

  /// How a case can end.
  public enum Word: String, Hashable, Sendable, CaseIterable {
    /// Model and device agreed to the end.
    case agree
    /// The device did what no state of the model allows.
    case divergence
    /// The lab failed, which says nothing of the device.
    case labFault = "lab-fault"
    /// The case was not tried.
    case skipped
    /// The case was begun and not brought to its end.
    case incomplete
  }

  /// The line a case ends with.
  public struct Verdict: Hashable, Sendable {
    /// The verdict itself.
    public var word: Word
    /// The case it is about.
    public var id: String
    /// Seconds since the start of the case, as written.
    public var time: String?
    /// The step it fell at.
    public var step: Int?
    /// The line of that step in the scenario.
    public var line: Int?
    /// Why, in one line.
    public var message: String?
    /// What the model allowed.
    public var expected: String?
    /// What the device showed.
    public var observed: String?
    /// The rule of its protocol that the device broke, where that is what is wrong.
    public var violation: Violation?
    /// More lines for a person.
    public var details: [String]
    /// The command that does it again.
    public var replay: String?
    /// Whether another try of the case follows.
    public var isTriedAgain: Bool
    /// What the model would have taken, a state each.
    public var allowed: [Allowance]
    /// What tells this failure from others: the same thing found again has the same signature.
    public var signature: String?
    /// Files that belong to the case.
    public var attachments: [Attachment]
  }

  /// A rule of its protocol that a device broke.
  public struct Violation: Hashable, Sendable {
    /// The rule's name.
    public var name: String
    /// With what of the protocol it was broken.
    public var subject: String?
    /// The packet in hexadecimal.
    public var packet: String?
    /// Who sent it: `device` or `tester`.
    public var sender: String?
  }

  /// A state that the model held possible, and what it could have shown.
  public struct Allowance: Hashable, Sendable {
    /// The state.
    public var state: String
    /// What would have happened in it; `nil` where nothing needs to.
    public var cause: String?
    /// What the device would have shown then.
    public var shows: String
  }

  /// A file beside a report.
  public struct Attachment: Hashable, Sendable {
    /// What it is: `capture` (btsnoop), `packets` (the capture, decoded: <doc:Journal-format>) or `scenario`.
    public var kind: String
    /// Where it is, relative to the folder of the run.
    public var path: String
  }

  /// A machine that cases of the run are compared with.
  public struct Machine: Hashable, Sendable {
    /// One legal cell of its table.
    public struct Cell: Hashable, Sendable {
      /// The numbers of the state and of the stimulus or event.
      public var state: Int
      /// The number of the stimulus.
      public var stimulus: Int
      /// The numbers of the states that it may lead to.
      public var next: [Int]
    }

    /// The name by which cases and coverage call it.
    public var name: String
    /// Its hash.
    public var hash: String
    /// Its states.
    public var states: [String]
    /// The regions that the states belong to, a name for each state; empty where there is but one.
    public var regions: [String]
    /// Its stimuli.
    public var stimuli: [String]
    /// The cells in which a stimulus is allowed, in the order of the first digits of ``Journal/Coverage/visited``.
    public var cells: [Cell]
    /// What happens by itself: a state, the event's name, and where it leads.
    public var spontaneous: [Spontaneous]

    /// An event that the tester does not cause.
    public struct Spontaneous: Hashable, Sendable {
      /// The number of the state.
      public var state: Int
      /// The name of the event.
      public var event: String
      /// The numbers of the states that it may lead to.
      public var next: [Int]
    }
  }

  /// How much of a machine the run went through.
  public struct Coverage: Hashable, Sendable {
    /// The machine.
    public var machine: String
    /// How many of its legal cells, visited and in all.
    public var legal: [Int]
    /// How many of its cells that refuse, visited and in all.
    public var empty: [Int]
    /// Which of the legal cells were visited, which of those that refuse, and which of the places that legal cells lead
    /// to, four a hexadecimal digit; without it two coverages cannot be added.
    public var visited: [String] = []
  }

  /// What a campaign came upon; the case that shows it follows.
  public struct Finding: Hashable, Sendable {
    /// What tells it from others: the same thing found twice has one signature.
    public var signature: String
    /// What happened, in one line.
    public var message: String
    /// How many events the shortest test has that shows it.
    public var shortest: Int
    /// The scenario in which it was saved.
    public var file: String?
    /// How sure it is: `confirmed`, `flaky` or `not reproduced`.
    public var confirmation: String?
  }

  /// The last line: how the run ended.
  public struct Ending: Hashable, Sendable {
    /// How many cases the run had.
    public var cases: Int
    /// The exit status of the command.
    public var status: Int
  }

  /// What one line says.
  public enum Record: Hashable, Sendable {
    /// How the run was started.
    case run(Run)
    /// A case starts.
    case start(Case)
    /// Something happened.
    case event(Event)
    /// A case ends.
    case verdict(Verdict)
    /// A lock was left.
    case left(Left)
    /// A machine, before the coverage of it.
    case machine(Machine)
    /// How much of a machine was visited.
    case coverage(Coverage)
    /// A campaign came upon something.
    case finding(Finding)
    /// How far a campaign came; its keys are only for people and other programs.
    case campaign
    /// The run ended.
    case end(Ending)
  }

  /// A line that cannot be understood, or that stands where it cannot.
  public struct Problem: Error, Hashable, Sendable {
    /// The line, from 1; 0 for the journal as a whole.
    public var line: Int
    /// What is wrong, in one line.
    public var message: String

    /// Says what is wrong with a line.
    public init(line: Int, message: String) {
      self.line = line
      self.message = message
    }
  }
}

extension Journal.Problem: CustomStringConvertible {
  /// The problem with its line.
  public var description: String {
    line == 0 ? message : "line \(line): \(message)"
  }
}

// MARK: - Decoding

/// Why a line of JSON is no record.
struct RecordError: Error {
  var reason: String
}

extension Journal.Record {
  /// Reads a line that was parsed.
  init(_ line: JSONValue) throws(RecordError) {
    guard case .object(let members) = line else { throw RecordError(reason: "a line is one JSON object") }
    if let word = line["verdict"] {
      self = .verdict(try Journal.Verdict(word, line))
    } else if let start = line["case"] {
      var test = try Journal.Case(start)
      test.lease = line["lease"]?.text
      self = .start(test)
    } else if let run = line["run"] {
      self = .run(try Journal.Run(run))
    } else if let coverage = line["coverage"] {
      self = .coverage(try Journal.Coverage(coverage))
    } else if let machine = line["machine"] {
      self = .machine(try Journal.Machine(machine))
    } else if let end = line["end"] {
      self = .end(try Journal.Ending(end))
    } else if let finding = line["finding"] {
      self = .finding(try Journal.Finding(finding))
    } else if line["campaign"] != nil {
      self = .campaign
    } else if let left = line["left"] {
      self = .left(try Journal.Left(left))
    } else {
      self = .event(try Journal.Event(line, members))
    }
  }
}

extension Journal.Run {
  init(_ value: JSONValue) throws(RecordError) {
    let format = value["format"]?.integer ?? 0
    guard (1...Journal.format).contains(format) else {
      throw RecordError(
        reason: "the journal's format is \(value["format"] ?? .null), and \(Journal.format) is understood")
    }
    seed = value["seed"]?.text
    cases = value["cases"]?.integer
    isResumed = value["resumed"] == .bool(true)
    failsFlaky = value["flaky"]?.text == "fail"
    command = value["command"]?.elements?.compactMap(\.text) ?? []
  }
}

extension Journal.Case {
  init(_ value: JSONValue) throws(RecordError) {
    guard let id = value["id"]?.text, !id.isEmpty else { throw RecordError(reason: "a case has no id") }
    self.id = id
    name = value["name"]?.text
    file = value["file"]?.text
    line = value["line"]?.integer
    machine = value["machine"]?.text
    device = value["device"]?.text
    seed = value["seed"]?.text
    model = value["model"]?.text
    firmware = value["firmware"]?.text
    digest = value["digest"]?.text
    attempt = max(1, value["attempt"]?.integer ?? 1)
    tags = value["tags"]?.elements?.compactMap(\.text) ?? []
  }
}

extension Journal.Event {
  init(_ line: JSONValue, _ members: [JSONValue.Member]) throws(RecordError) {
    guard let time = line["t"]?.text, milliseconds(time) != nil else {
      throw RecordError(reason: "an event has no time")
    }
    self.time = time
    step = line["step"]?.integer
    self.line = line["line"]?.integer
    model = line["model"]?.elements?.compactMap(\.text)
    content = members.filter { !["t", "step", "line", "model", "lease"].contains($0.key) }
  }
}

extension Journal.Left {
  init(_ value: JSONValue) throws(RecordError) {
    guard let lock = value["lock"]?.text else {
      throw RecordError(reason: "it is not said which lock was left")
    }
    self.lock = lock
    isAtRest =
      switch value["atRest"] {
      case .bool(let isAtRest): isAtRest
      default: nil
      }
    message = value["message"]?.text
  }
}

extension Journal.Verdict {
  init(_ word: JSONValue, _ line: JSONValue) throws(RecordError) {
    guard let text = word.text, let word = Journal.Word(rawValue: text) else {
      throw RecordError(reason: "no verdict is called \(word)")
    }
    guard let id = line["case"]?.text else { throw RecordError(reason: "a verdict names no case") }
    self.word = word
    self.id = id
    time = line["t"]?.text
    step = line["step"]?.integer
    self.line = line["line"]?.integer
    message = line["message"]?.text
    expected = line["expected"]?.text
    observed = line["observed"]?.text
    violation = line["violation"]?.text.map { name in
      Journal.Violation(
        name: name, subject: line["of"]?.text, packet: line["packet"]?.text, sender: line["from"]?.text)
    }
    details = line["details"]?.elements?.map(\.description) ?? []
    replay = line["replay"]?.text
    isTriedAgain = line["again"] == .bool(true)
    allowed = line["allowed"]?.elements?.compactMap(Journal.Allowance.init) ?? []
    signature = line["signature"]?.text
    attachments = line["attachments"]?.elements?.compactMap(Journal.Attachment.init) ?? []
  }
}

extension Journal.Allowance {
  init?(_ value: JSONValue) {
    guard let state = value["state"]?.text, let shows = value["shows"]?.text else { return nil }
    self.init(state: state, cause: value["cause"]?.text, shows: shows)
  }
}

extension Journal.Attachment {
  init?(_ value: JSONValue) {
    guard let kind = value["kind"]?.text, let path = value["path"]?.text else { return nil }
    self.init(kind: kind, path: path)
  }
}

extension Journal.Machine {
  init(_ value: JSONValue) throws(RecordError) {
    guard let name = value["name"]?.text else { throw RecordError(reason: "a machine has no name") }
    self.name = name
    hash = value["hash"]?.text ?? ""
    states = value["states"]?.elements?.compactMap(\.text) ?? []
    regions = value["regions"]?.elements?.compactMap(\.text) ?? []
    stimuli = value["stimuli"]?.elements?.compactMap(\.text) ?? []
    let (stateNumbers, stimulusNumbers) = (states.indices, stimuli.indices)
    /// A row of the form `[from, by, [to…]]`, unless it leads out of the table.
    func row(_ value: JSONValue) -> (from: Int, by: JSONValue, to: [Int])? {
      guard let parts = value.elements, parts.count == 3, let from = parts[0].integer,
        let to = parts[2].elements?.compactMap(\.integer), stateNumbers.contains(from),
        to.allSatisfy(stateNumbers.contains)
      else { return nil }
      return (from, parts[1], to)
    }
    cells = (value["cells"]?.elements ?? []).compactMap { value in
      guard let row = row(value), let stimulus = row.by.integer, stimulusNumbers.contains(stimulus) else {
        return nil
      }
      return Cell(state: row.from, stimulus: stimulus, next: row.to)
    }
    spontaneous = (value["spontaneous"]?.elements ?? []).compactMap { value in
      guard let row = row(value), let event = row.by.text else { return nil }
      return Spontaneous(state: row.from, event: event, next: row.to)
    }
  }
}

extension Journal.Coverage {
  init(_ value: JSONValue) throws(RecordError) {
    guard let machine = value["machine"]?.text else { throw RecordError(reason: "coverage names no machine") }
    self.machine = machine
    legal = value["legal"]?.elements?.compactMap(\.integer) ?? []
    empty = value["empty"]?.elements?.compactMap(\.integer) ?? []
    visited = value["visited"]?.elements?.compactMap(\.text) ?? []
  }
}

extension Journal.Finding {
  init(_ value: JSONValue) throws(RecordError) {
    guard let signature = value["signature"]?.text, let shortest = value["shortest"]?.integer else {
      throw RecordError(reason: "a finding names no signature or no length")
    }
    self.signature = signature
    self.shortest = shortest
    message = value["message"]?.text ?? signature
    file = value["file"]?.text
    confirmation = value["confirmation"]?["verdict"]?.text
  }
}

extension Journal.Ending {
  init(_ value: JSONValue) throws(RecordError) {
    guard let cases = value["cases"]?.integer, let status = value["status"]?.integer else {
      throw RecordError(reason: "the end names no count of cases or no status")
    }
    self.cases = cases
    self.status = status
  }
}

/// Seconds as text, such as `10.1134`, in whole milliseconds, halves rounded up; `nil` for anything else.
///
/// Times before zero count as zero, and what is beyond a million years as that.
func milliseconds(_ text: String) -> Int64? {
  milliseconds(text.utf8.span)
}

/// The same, of the bytes of a text.
func milliseconds(_ text: Span<UInt8>) -> Int64? {
  let isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
  let limit: Int64 = 31_557_600_000_000
  var seconds: Int64 = 0
  var thousandths: Int64 = 0
  /// What the next decimal counts in tenths of a millisecond; `nil` before the point.
  var place: Int64?
  var previous = UInt8(ascii: ".")
  for index in (isNegative ? 1 : 0)..<max(text.count, isNegative ? 1 : 0) {
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      let digit = Int64(byte - UInt8(ascii: "0"))
      if let unit = place {
        thousandths += unit * digit
        place = unit / 10
      } else {
        seconds = min(seconds * 10 + digit, limit)
      }
    case UInt8(ascii: ".") where place == nil && previous != byte:
      place = 1000
    default:
      return nil
    }
    previous = byte
  }
  if previous == UInt8(ascii: ".") { return nil }
  return isNegative ? 0 : seconds * 1000 + (thousandths + 5) / 10
}
