public import Basics

extension Record {
  /// The last line of a case.
  public struct Verdict: Hashable, Sendable {
    /// How a case can end.
    public enum Word: String, Hashable, Sendable, CaseIterable {
      /// Model and device agreed to the end.
      case agree
      /// The device did something that no state of the model allows.
      case divergence
      /// Model and device agreed, but the scenario expects more: ``Record/Verdict/unmet``.
      ///
      /// A journal contains a divergence with the unmet expectations, as in journals older than this word.
      case unmet = "expectation"
      /// A lab fault, which says nothing about the device.
      case labFault = "lab-fault"
      /// The case was not run.
      case skipped
      /// The case was started but not completed.
      case incomplete

      /// Whether something is wrong, with the device or with the lab.
      public var isFailure: Bool { isFailed || self == .labFault }

      /// Whether this is a verdict other than agreement.
      public var isFailed: Bool { self == .divergence || self == .unmet }
    }

    /// The verdict itself, regardless of quarantine.
    public var word: Word
    /// The id of the case.
    public var id: String
    /// The time since the start of the case.
    public var time: Instant?
    /// The number of the step at which the case ended.
    public var step: Int?
    /// The line of that step in the scenario.
    public var line: Int?
    /// The number of device observations with which the model was compared, on which the verdict rests; `nil` if they
    /// were not counted.
    public var observations: Int?
    /// The reason, in one line.
    public var message: String?
    /// Why the case is in quarantine, and until when: its failure is known, and counts as skipped.
    public var quarantine: String?
    /// The safety limit that stopped the case, and with it the run.
    public var limit: String?
    /// Whether the case agreed only at a later attempt.
    public var isFlaky = false
    /// What the model allowed, in words.
    public var expected: String?
    /// What the device showed.
    public var seen: String?
    /// The expectations of the scenario, beyond the model, that were not met; model and device agree in this case.
    public var unmet: [Unmet] = []
    /// What happened, in one sentence to be read aloud.
    public var sentence: String?
    /// The rule of its protocol that the device violated, if that is the failure.
    public var rule: String?
    /// Details of the violation.
    public var breach = Breach()
    /// Why there is no verdict, or how the device stopped answering.
    public var trouble: Trouble?
    /// Why the device showed this, or nothing, if the cause is known.
    public var explanation: Explanation?
    /// What the tester had sent shortly before that no normal client sends.
    public var injected: InjectedAction?
    /// Whether the failure occurred before the case began, while a device that keeps its state from case to case was
    /// prepared.
    public var isBefore = false
    /// The previous case, if the failure occurred before this one.
    public var earlier: EarlierCase?
    /// More lines for people.
    public var details: [String] = []
    /// What the model would have allowed, one entry for each state.
    public var allowed: [Allowance] = []
    /// The options that the case showed of choices that a device makes once, if it agreed by itself.
    public var shown: [ShownChoice] = []
    /// The signature of the failure: if the same failure is found again, it has the same signature.
    public var signature: String?
    /// Files that belong to the case.
    public var attachments: [Attachment] = []
    /// The command that replays the case.
    public var replay: String?
    /// Whether another attempt of the case follows.
    public var isTriedAgain = false

    /// Creates the last line of a case.
    public init(_ word: Word, of id: String, at time: Instant? = nil) {
      (self.word, self.id, self.time) = (word, id, time)
    }

    /// Whether this is a known failure.
    public var isExcused: Bool { quarantine != nil && word.isFailure }

    /// The beginning of the message if model and device agree, but the scenario expects more.
    public static let unmetWords = "the model agrees; the scenario asks for more"

    /// The word that counts: a failure in quarantine is skipped.
    public var counted: Word { isExcused ? .skipped : word }

    /// The reason in one line for people; `nil` if there is none.
    public var summary: String? {
      if isExcused, let quarantine {
        let happened =
          word == .unmet
          ? "it was not as expected" : word == .divergence ? "it diverged" : "trouble in the lab"
        return "in quarantine \(quarantine); \(happened): \(message ?? "")"
      }
      return message
    }
  }

  /// An expectation of the scenario that was not met.
  public struct Unmet: Hashable, Sendable {
    /// The kind of the expectation: `status`, `effect`, `refusal`, `quiet`, or the name of a reading.
    public var what: String
    /// The expected value.
    public var expected: String
    /// The observed value.
    public var seen: String

    /// Creates an unmet expectation.
    public init(_ what: String, expected: String, seen: String) {
      (self.what, self.expected, self.seen) = (what, expected, seen)
    }

    /// An unmet expectation without details, for a case whose journal is lost.
    public static let unknown = Unmet("expectation", expected: "met", seen: "not met")
  }

  /// A lab fault, or how a device stopped answering.
  public struct Trouble: Hashable, Sendable {
    /// The symptom: `no device`, `no answer`, `link lost` …
    public var symptom: String
    /// The origin, if known: `transport`, or a program of the user: `program`, `driver`, `peripheral`.
    public var origin: String?
    /// What that program did: `does not start`, `never answers`, `ended` …
    public var happened: String?
    /// The last standard error output of that program, or how it ended.
    public var lastWords: String?

    /// Creates trouble with a symptom.
    public init(_ symptom: String) { self.symptom = symptom }
  }

  /// Why a device showed what it did, or nothing.
  public struct Explanation: Hashable, Sendable {
    /// The kind of cause.
    public var cause: String
    /// What was observed of it.
    public var detail: String

    /// Creates an explanation.
    public init(cause: String, detail: String) { (self.cause, self.detail) = (cause, detail) }
  }

  /// Something that the tester sent and that no normal client sends, such as a forged command or a false proof.
  public struct InjectedAction: Hashable, Sendable {
    /// The kind of the action: `forged-command`, `false-proof`, `replayed-message`.
    public var kind: String
    /// What was sent, in words.
    public var sent: String
    /// When it was sent, since the start of the case.
    public var time: Instant
    /// How a correct device reacts.
    public var reaction = ""
    /// Whether the behaviour of the device indicates that it obeyed.
    public var isObeyed = false

    /// Creates an injected action.
    public init(kind: String, sent: String, at time: Instant) {
      (self.kind, self.sent, self.time) = (kind, sent, time)
    }
  }

  /// The case before another one on the same device.
  public struct EarlierCase: Hashable, Sendable {
    /// The id of the case.
    public var id: String
    /// The last stimuli and faults of the case.
    public var actions: [String]

    /// Creates an earlier case.
    public init(id: String, actions: [String]) { (self.id, self.actions) = (id, actions) }
  }

  /// A state that the model considered possible, and what the device could have shown in it.
  public struct Allowance: Hashable, Sendable {
    /// The state.
    public var state: String
    /// What would have caused it; `nil` if no cause is necessary.
    public var cause: String?
    /// What the device would have shown.
    public var shows: String

    /// Creates an allowance.
    public init(state: String, cause: String? = nil, shows: String) {
      (self.state, self.cause, self.shows) = (state, cause, shows)
    }
  }

  /// A file that belongs to a report.
  public struct Attachment: Hashable, Sendable {
    /// The kind of the file: `capture` (btsnoop), `packets` (the decoded capture: <doc:Journal-format>) or `scenario`.
    public var kind: String
    /// The path, relative to the folder of the run.
    public var path: String

    /// Creates an attachment.
    public init(_ kind: String, _ path: String) { (self.kind, self.path) = (kind, path) }
  }
}

extension Record.Verdict: Recorded {
  public static let blank = Record.Verdict(.incomplete, of: "")
  public static let noun = "a verdict"
  public static let fields: [Field<Self>] = [
    .needed("verdict", \.word, .written), .needed("case", \.id, .text), .usual("t", \.time, .time),
    .extra("step", \.step, .count), .extra("line", \.line, .count),
    .extra("observations", \.observations, .count),
    .extra("message", \.message, .text),
    .extra("quarantine", \.quarantine, .text), .extra("limit", \.limit, .text), .mark("flaky", \.isFlaky),
    .extra("expected", \.expected, .text), .extra("observed", \.seen, .text),
    .list("unmet", \.unmet, .object()), .extra("sentence", \.sentence, .text),
    .extra("violation", \.rule, .text), .extra("of", \.breach.subject, .text),
    .extra("detail", \.breach.detail, .text), .extra("packet", \.breach.packet, .text),
    .extra("from", \.breach.sender, .words()), .extra("quirk", \.breach.quirk, .text),
    .extra("trouble", \.trouble, .object()), .extra("explanation", \.explanation, .object()),
    .extra("injected", \.injected, .object()),
    .mark("before", \.isBefore), .extra("earlier", \.earlier, .object()), .list("details", \.details, .text),
    .list("allowed", \.allowed, .object()), .list("shown", \.shown, .object()),
    .extra("signature", \.signature, .text),
    .list("attachments", \.attachments, .object()), .extra("replay", \.replay, .text),
    .mark("again", \.isTriedAgain),
  ]
}

extension Notation<Record.Verdict.Word> {
  /// The notation of a word in journals: an unmet expectation is written as a divergence.
  static let written = Notation(
    shape: Shape.words(Record.Verdict.Word.allCases.filter { $0 != .unmet }.map(\.rawValue)),
    write: { .text(($0 == .unmet ? .divergence : $0).rawValue) },
    read: { json in
      json.string.flatMap { Record.Verdict.Word(rawValue: $0) }.flatMap { $0 == .unmet ? nil : $0 }
    })
}

extension Record.Unmet: Recorded {
  public static let blank = Record.Unmet("", expected: "", seen: "")
  public static let noun = "what was expected"
  public static let fields: [Field<Self>] = [
    .needed("what", \.what, .text), .needed("expected", \.expected, .text),
    .needed("observed", \.seen, .text),
  ]
}

extension Record.Trouble: Recorded {
  public static let blank = Record.Trouble("")
  public static let noun = "trouble"
  public static let fields: [Field<Self>] = [
    .needed("symptom", \.symptom, .text), .extra("origin", \.origin, .text),
    .extra("happened", \.happened, .text), .extra("lastWords", \.lastWords, .text),
  ]
}

extension Record.Explanation: Recorded {
  public static let blank = Record.Explanation(cause: "", detail: "")
  public static let noun = "an explanation"
  public static let fields: [Field<Self>] = [
    .needed("cause", \.cause, .text), .needed("detail", \.detail, .text),
  ]
}

extension Record.InjectedAction: Recorded {
  public static let blank = Record.InjectedAction(kind: "", sent: "", at: .zero)
  public static let noun = "what was injected"
  public static let fields: [Field<Self>] = [
    .needed("kind", \.kind, .text), .needed("sent", \.sent, .text), .needed("t", \.time, .time),
    .needed("reaction", \.reaction, .text), .mark("obeyed", \.isObeyed),
  ]
}

extension Record.EarlierCase: Recorded {
  public static let blank = Record.EarlierCase(id: "", actions: [])
  public static let noun = "an earlier case"
  public static let fields: [Field<Self>] = [
    .needed("case", \.id, .text), .list("actions", \.actions, .text),
  ]
}

extension Record.Allowance: Recorded {
  public static let blank = Record.Allowance(state: "", shows: "")
  public static let noun = "what was allowed"
  public static let fields: [Field<Self>] = [
    .needed("state", \.state, .text), .extra("cause", \.cause, .text), .needed("shows", \.shows, .text),
  ]
}

extension Record.Attachment: Recorded {
  public static let blank = Record.Attachment("", "")
  public static let noun = "an attachment"
  public static let fields: [Field<Self>] = [.needed("kind", \.kind, .text), .needed("path", \.path, .text)]
}
