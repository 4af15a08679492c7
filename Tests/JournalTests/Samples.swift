import Basics
import Journal

/// Records drawn at random: of every kind, with every key that they can have.
struct Samples {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func flip() -> Bool { generator.below(2) == 0 }
  private mutating func count() -> Int { generator.below(1 << 20) }

  /// What people, locks and files say: quotes, control characters, what XML and HTML take for markup, many scripts.
  private mutating func text() -> String {
    let pieces = [
      "a", "lock", " ", "\"", "\\", "\n", "\u{1B}[31m", "<b>", "]]>", "&amp;", "鍵", "e\u{301}", "🔒", "/", "…",
      "\u{7F}",
    ]
    return "x" + (0..<generator.below(6)).map { _ in pieces[generator.below(pieces.count)] }.joined()
  }

  private mutating func maybe<Value>(_ value: (inout Samples) -> Value) -> Value? {
    flip() ? value(&self) : nil
  }
  private mutating func list<Value>(_ value: (inout Samples) -> Value) -> [Value] {
    (0..<generator.below(4)).map { _ in value(&self) }
  }
  private mutating func pick<Value>(_ values: [Value]) -> Value { values[generator.below(values.count)] }
  private mutating func time() -> Instant {
    .zero + Interval(nanoseconds: Int64(generator.next() >> pick([1, 20, 34, 63])))
  }
  private mutating func value() -> JSON {
    pick([.integer(count()), .text(text()), .flag(flip()), .decimal(Double(count()) / 64)])
  }

  /// Some records of each kind.
  mutating func records() -> [Record] {
    [run(), begin(), verdict(), left(), machine(), coverage(), finding(), campaign(), end()]
      + Record.Event.Kind.allCases.map { .event(event($0)) }
  }

  private mutating func run() -> Record {
    .run(
      Record.Run(
        seed: generator.next(), cases: maybe { $0.count() }, isResumed: flip(), failsFlaky: flip()))
  }

  private mutating func left() -> Record {
    .left(Record.Left(lock: text(), isParked: maybe { $0.flip() }, message: maybe { $0.text() }))
  }

  private mutating func end() -> Record {
    var tally = Tally()
    tally.cases = count()
    for ending in Record.Ending.allCases { tally[ending] = count() }
    return .end(Record.End(tally, pick([.agree, .divergence, .safetyLimit, .internalFault])))
  }

  mutating func begin() -> Record {
    var test = Record.Case(id: text())
    (test.name, test.file, test.line) = (text(), text(), count())
    test.tags = list { $0.text() }
    (test.machine, test.model, test.device, test.firmware) = (text(), text(), text(), maybe { $0.text() })
    (test.seed, test.digest, test.attempt) = (generator.next(), text(), 1 + generator.below(3))
    return .begin(test)
  }

  mutating func event(_ kind: Record.Event.Kind) -> Record.Event {
    var event = Record.Event(kind, kind == .model ? "" : text(), at: time())
    switch kind {
    case .stimulus: event.arguments = list { JSON.Member($0.text() + "\($0.count())", $0.value()) }
    case .fault, .reading: event.value = value()
    case .violation: event.breach = breach()
    case .event: event.breach.detail = maybe { $0.text() }
    case .model:
      event.statuses = list { $0.text() }
      event.variables = list { samples in
        var variable = Record.Variable(samples.text(), samples.list { $0.value() })
        variable.isMore = samples.count() > 2
        return variable
      }
    case .lab: event.attempt = count()
    case .wait, .expect, .note, .status, .effect, .refused, .diagnostic: break
    }
    if [.stimulus, .fault, .wait, .expect, .note].contains(kind) {
      (event.step, event.line) = (count(), count())
    }
    return event
  }

  private mutating func breach() -> Record.Breach {
    var breach = Record.Breach()
    (breach.subject, breach.detail) = (maybe { $0.text() }, maybe { $0.text() })
    (breach.packet, breach.quirk) = (maybe { _ in "0752" }, maybe { $0.text() })
    breach.sender = maybe { $0.pick([.device, .tester]) }
    return breach
  }

  mutating func verdict() -> Record {
    var verdict = Record.Verdict(pick(Record.Verdict.Word.allCases), of: text(), at: time())
    (verdict.step, verdict.line) = (maybe { $0.count() }, maybe { $0.count() })
    verdict.observations = maybe { $0.count() }
    (verdict.message, verdict.quarantine) = (maybe { $0.text() }, maybe { $0.text() })
    (verdict.limit, verdict.isFlaky) = (maybe { $0.text() }, flip())
    (verdict.expected, verdict.seen) = (maybe { $0.text() }, maybe { $0.text() })
    if verdict.word == .unmet {
      verdict.unmet = (0...count() % 3).map { _ in
        Record.Unmet(text(), expected: text(), seen: text())
      }
    }
    verdict.sentence = maybe { $0.text() }
    (verdict.rule, verdict.breach) = (maybe { $0.text() }, breach())
    verdict.trouble = maybe {
      var trouble = Record.Trouble($0.text())
      (trouble.origin, trouble.happened) = ($0.maybe { $0.text() }, $0.maybe { $0.text() })
      trouble.lastWords = $0.maybe { $0.text() }
      return trouble
    }
    verdict.explanation = maybe { Record.Explanation(cause: $0.text(), detail: $0.text()) }
    verdict.injected = maybe { samples in
      var action = Record.InjectedAction(kind: samples.text(), sent: samples.text(), at: samples.time())
      (action.reaction, action.isObeyed) = (samples.text(), samples.flip())
      return action
    }
    verdict.isBefore = flip()
    verdict.earlier = maybe { samples in
      Record.EarlierCase(id: samples.text(), actions: samples.list { $0.text() })
    }
    verdict.details = list { $0.text() }
    verdict.allowed = list { samples in
      Record.Allowance(state: samples.text(), cause: samples.maybe { $0.text() }, shows: samples.text())
    }
    verdict.shown = list { samples in Record.ShownChoice(samples.text(), samples.list { $0.text() }) }
    (verdict.signature, verdict.replay) = (maybe { $0.text() }, maybe { $0.text() })
    verdict.attachments = list { Record.Attachment($0.pick(["capture", "packets", "scenario"]), $0.text()) }
    verdict.isTriedAgain = flip()
    return .verdict(verdict)
  }

  private mutating func machine() -> Record {
    var machine = Record.Machine(text(), hash: text())
    machine.states = ["a", "b", "c"]
    if flip() { machine.regions = ["r", "r", "s"] }
    machine.stimuli = ["go", "stop"]
    machine.cells = list { samples in
      .init(
        state: samples.generator.below(3), stimulus: samples.generator.below(2),
        next: samples.list { $0.generator.below(3) })
    }
    machine.spontaneous = list { samples in
      .init(
        state: samples.generator.below(3), event: samples.text(), next: samples.list { $0.generator.below(3) }
      )
    }
    return .machine(machine)
  }

  private mutating func figures() -> Record.Coverage.Figures {
    var figures = Record.Coverage.Figures()
    func share(_ count: Int) -> Record.Coverage.Share { .init(count / 2, of: count) }
    (figures.legal, figures.empty, figures.states) = (share(count()), share(count()), share(count()))
    (figures.transitions, figures.pairs) = (share(count()), share(count()))
    return figures
  }

  private mutating func coverage() -> Record {
    var coverage = Record.Coverage(text())
    coverage.total = figures()
    coverage.visited = ["0f", "", "1"]
    coverage.regions = list { .init($0.text(), $0.figures()) }
    return .coverage(coverage)
  }

  private mutating func finding() -> Record {
    var finding = Record.Finding(text(), shortest: count())
    (finding.number, finding.message) = (count(), text())
    (finding.events, finding.length, finding.count) = (count(), count(), count())
    finding.shrinking = .init(runs: count(), events: count(), end: text())
    finding.confirmation = .init(
      verdict: text(), shown: count(), runs: count(), disturbed: count(), likelihoodRatio: Double(count()) / 8
    )
    (finding.past, finding.twinComparison) = (
      maybe { $0.pick(Record.Finding.Past.allCases) }, maybe { $0.text() }
    )
    finding.file = text()
    return .finding(finding)
  }

  private mutating func campaign() -> Record {
    var status = CampaignStatus()
    status.phase = text()
    (status.events, status.tests, status.extraEvents, status.repeats) = (count(), count(), count(), count())
    status.depths = list { $0.count() }
    (status.labFaults, status.unjudged, status.corpus, status.positions) = (
      count(), count(), count(), count()
    )
    (status.longest, status.actuations) = (count(), count())
    (status.stability.same, status.stability.tried) = (count(), count())
    (status.lockTime, status.waited) = (.milliseconds(Int64(count())), .milliseconds(Int64(count())))
    (status.motorRest, status.air) = (.milliseconds(Int64(count())), .milliseconds(Int64(count())))
    (status.confirming, status.shrinking) = (.milliseconds(Int64(count())), .milliseconds(Int64(count())))
    status.shown = list { samples in Record.ShownChoice(samples.text(), samples.list { $0.text() }) }
    return .campaign(status)
  }
}
