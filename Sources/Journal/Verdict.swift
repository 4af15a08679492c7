public import Basics

extension Record {
  /// The line a case ends with.
  public struct Verdict: Hashable, Sendable {
    /// How a case can end.
    public enum Word: String, Hashable, Sendable, CaseIterable {
      /// Model and device agreed to the end.
      case agree
      /// The device did what no state of the model allows.
      case divergence
      /// Model and device agreed, and the scenario expects more: ``Record/Verdict/unmet``. Journals have it as a divergence,
      /// with what was not met beside it, as those that were written before there was a word for it.
      case unmet = "expectation"
      /// The lab failed, which says nothing of the device.
      case labFault = "lab-fault"
      /// The case was not tried.
      case skipped
      /// The case was begun and not brought to its end.
      case incomplete

      /// Whether something is wrong, with the device or with the lab.
      public var isFailure: Bool { isFailed || self == .labFault }

      /// Whether it came to a verdict that is not agreement.
      public var isFailed: Bool { self == .divergence || self == .unmet }
    }

    /// The verdict itself: what happened, whether or not that is news.
    public var word: Word
    /// The case it is about.
    public var id: String
    /// Since the start of the case.
    public var time: Instant?
    /// The step it fell at.
    public var step: Int?
    /// The line of that step in the scenario.
    public var line: Int?
    /// How many observations of the device the model was held against: what the verdict rests on. `nil` where that was
    /// not counted.
    public var observations: Int?
    /// Why, in one line.
    public var message: String?
    /// Why the case is in quarantine, and until when: a failure of it is known, and counts as skipped.
    public var quarantine: String?
    /// The safety limit that stopped the case, and with it the run.
    public var limit: String?
    /// Whether the case agreed only when it was tried again.
    public var isFlaky = false
    /// What the model allowed, in words.
    public var expected: String?
    /// What the device showed.
    public var seen: String?
    /// All that the scenario expects beyond the model and that did not come: the two agree then.
    public var unmet: [Unmet] = []
    /// What happened in one sentence, to be read aloud.
    public var sentence: String?
    /// The rule of its protocol that the device broke, where that is what is wrong.
    public var rule: String?
    /// What else there is to say of that rule.
    public var breach = Breach()
    /// What kept the case from a verdict; of a device that stopped answering, how it did.
    public var trouble: Trouble?
    /// Why the device showed what it did, or nothing, where that is known.
    public var explanation: Explanation?
    /// What the tester had sent shortly before that no client sends.
    public var injected: InjectedAction?
    /// Whether it failed before the case began, while a device that goes on from case to case was made ready for it.
    public var isBefore = false
    /// The case before, where it failed before this one.
    public var earlier: EarlierCase?
    /// More lines for a person.
    public var details: [String] = []
    /// What the model would have taken, a state each.
    public var allowed: [Allowance] = []
    /// What the case showed of choices that a device makes once, where it agreed by itself.
    public var shown: [ShownChoice] = []
    /// What tells this failure from others: the same thing found again has the same signature.
    public var signature: String?
    /// Files that belong to the case.
    public var attachments: [Attachment] = []
    /// The command that does it again.
    public var replay: String?
    /// Whether another try of the case follows.
    public var isTriedAgain = false

    /// A case ends.
    public init(_ word: Word, of id: String, at time: Instant? = nil) {
      (self.word, self.id, self.time) = (word, id, time)
    }

    /// Whether it is a failure that is known already.
    public var isExcused: Bool { quarantine != nil && word.isFailure }

    /// What the message begins with where model and device agree, and the scenario expects more.
    public static let unmetWords = "the model agrees; the scenario asks for more"

    /// What it counts as: what is in quarantine was not judged.
    public var counted: Word { isExcused ? .skipped : word }

    /// Why it ended so, in one line for people; `nil` where all agreed.
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

  /// Something that a scenario expects and that did not come.
  public struct Unmet: Hashable, Sendable {
    /// What it is: `status`, `effect`, `refusal`, `quiet`, or the name of a reading.
    public var what: String
    /// What was expected of it.
    public var expected: String
    /// What came in its place.
    public var seen: String

    /// Names one.
    public init(_ what: String, expected: String, seen: String) {
      (self.what, self.expected, self.seen) = (what, expected, seen)
    }

    /// What stands for one of which nothing is known but that it was not met: its journal is lost.
    public static let unknown = Unmet("expectation", expected: "met", seen: "not met")
  }

  /// Trouble of the lab, or of what a device does not answer any more.
  public struct Trouble: Hashable, Sendable {
    /// What was noticed: `no device`, `no answer`, `link lost` …
    public var symptom: String
    /// Where it comes from, where that is known: `transport`, or a program of the user's: `program`, `driver`, `peripheral`.
    public var origin: String?
    /// What that program did: `does not start`, `never answers`, `ended` …
    public var happened: String?
    /// What that program wrote last to its standard error, or how it ended.
    public var lastWords: String?

    /// Names what was noticed.
    public init(_ symptom: String) { self.symptom = symptom }
  }

  /// Why a device showed what it did, or nothing.
  public struct Explanation: Hashable, Sendable {
    /// The kind of cause.
    public var cause: String
    /// What of it was seen.
    public var detail: String

    /// Names a cause.
    public init(cause: String, detail: String) { (self.cause, self.detail) = (cause, detail) }
  }

  /// Something that the tester sent and that no client of the device sends: a forged command, a false proof.
  public struct InjectedAction: Hashable, Sendable {
    /// What kind it is: `forged-command`, `false-proof`, `replayed-message`.
    public var kind: String
    /// What was sent, in words.
    public var sent: String
    /// When, since the start of the case.
    public var time: Instant
    /// What a correct device does with it.
    public var reaction = ""
    /// Whether what the device showed is a sign that it obeyed.
    public var isObeyed = false

    /// Something was sent.
    public init(kind: String, sent: String, at time: Instant) {
      (self.kind, self.sent, self.time) = (kind, sent, time)
    }
  }

  /// A case before another on the same device.
  public struct EarlierCase: Hashable, Sendable {
    /// The case.
    public var id: String
    /// The last of its stimuli and faults.
    public var actions: [String]

    /// Names a case.
    public init(id: String, actions: [String]) { (self.id, self.actions) = (id, actions) }
  }

  /// A state that the model held possible, and what it could have shown.
  public struct Allowance: Hashable, Sendable {
    /// The state.
    public var state: String
    /// What would have happened in it; `nil` where nothing needs to.
    public var cause: String?
    /// What the device would have shown then.
    public var shows: String

    /// Names a state.
    public init(state: String, cause: String? = nil, shows: String) {
      (self.state, self.cause, self.shows) = (state, cause, shows)
    }
  }

  /// A file beside a report.
  public struct Attachment: Hashable, Sendable {
    /// What it is: `capture` (btsnoop), `packets` (the capture, decoded: <doc:Journal-format>) or `scenario`.
    public var kind: String
    /// Where it is, relative to the folder of the run.
    public var path: String

    /// Names a file.
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
  /// As journals have it.
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
