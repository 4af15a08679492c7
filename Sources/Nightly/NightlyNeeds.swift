import Basics
import Bench
import Conformance
import Harness
import Journal
import System

/// A lock, or something else of the lab, that needs a person in the morning.
struct NightlyNeed: Equatable {
  /// What it is.
  enum Kind: String, CaseIterable {
    case lock, dongle, place, bench
  }

  /// What happened to it.
  enum Cause: Equatable {
    case diverged, unmet, stoppedAnswering, notFound, transportLost, linkLost, outOfUse, notParked
    /// It is not known whether it is parked.
    case parkUnknown
    case lowBattery
    /// A program of it failed, or does not start.
    case program(ProgramTrouble)
    /// Anything else that kept the lab from a judgement.
    case trouble
    /// The bench lacks what the plan needs, in words.
    case missing(String)
  }

  /// A line to paste where the night was started.
  struct Command: Equatable {
    /// What it does.
    enum Purpose: String, CaseIterable {
      /// It puts back in use what is out of use.
      case restore
      /// It brings a lock to where it is to be left.
      case park
      /// It does again what failed.
      case replay
    }

    var purpose: Purpose
    var line: String
  }

  var kind: Kind
  var name: String
  /// What happened, what weighs most first.
  var causes: [Cause] = []
  /// What happened, a sentence each.
  var reasons: [String] = []
  /// What to do about it, in this order.
  var commands: [Command] = []
  /// The number of the first of its failures on the page; `nil` where it has none there.
  var item: Int?

  /// What happened, for the headline: `diverged`.
  var what: String {
    var known: [String] = []
    for words in causes.map(\.description) where !known.contains(words) { known.append(words) }
    return known.isEmpty ? "needs a look" : known.joined(separator: " and ")
  }
}

extension NightlyNeed.Cause: CustomStringConvertible {
  /// What is said of whom it happened to.
  var description: String {
    switch self {
    case .diverged: "diverged"
    case .unmet: "is not as expected"
    case .stoppedAnswering: "stopped answering"
    case .notFound: "was not found"
    case .transportLost: "lost its transport"
    case .linkLost: "kept losing its link"
    case .outOfUse: "is out of use"
    case .notParked: "is not parked"
    case .parkUnknown: "may not be parked"
    case .lowBattery: "has a low battery"
    case .program(let trouble): "\(trouble)"
    case .trouble: "had trouble"
    case .missing(let words): words
    }
  }
}

// MARK: - What needs a person

extension NightlyReport {
  /// What needs a person: the locks in the order of the bench, then what leads to them.
  var needs: [NightlyNeed] {
    let numbered = kinds.flatMap(\.items).enumerated().map { (item: $0.element, number: $0.offset + 1) }
    let failed =
      numbered.prefix(red.count + findings.count)
      + numbered.filter { unmetNews.contains($0.item) || trouble.contains($0.item) }
    return locks.compactMap { lock in need(of: lock, failed.filter { $0.item.lock == lock.name }) }
      + dongles.compactMap(need)
      + runs.lab.unmet.map {
        NightlyNeed(kind: .bench, name: "the bench", causes: [.missing($0)], reasons: [$0])
      }
  }

  private func need(of lock: LockLine, _ failed: [(item: Item, number: Int)]) -> NightlyNeed? {
    let first = failed.first
    guard first != nil || lock.isBad || !lock.trouble.isEmpty else { return nil }
    var need = NightlyNeed(kind: .lock, name: lock.name, item: first?.number)
    need.reasons = lock.trouble
    if let first, lock.outOfUse == nil {
      need.reasons.insert(String(first.item.message.prefix { $0 != "\n" }), at: 0)
    }
    need.causes = causes(lock, first?.item)
    // What is out of use can be tried again once it is restored; nothing moves a lock that is jammed, or low, before.
    if lock.outOfUse != nil || lock.battery?.low != nil || lock.isBlocked {
      need.commands.append(.init(purpose: .restore, line: runs.lab.restoring(lock.name)))
    }
    if lock.isLeftElsewhere { need.commands.append(.init(purpose: .park, line: runs.parking(lock.name))) }
    if let replay = first?.item.replay { need.commands.append(.init(purpose: .replay, line: replay)) }
    return need
  }

  private func need(of dongle: DongleLine) -> NightlyNeed? {
    guard let why = dongle.trouble else { return nil }
    return NightlyNeed(
      kind: dongle.kind == .dongle ? .dongle : .place, name: dongle.name, causes: [.outOfUse],
      reasons: ["out of use: \(why)"],
      commands: [.init(purpose: .restore, line: runs.lab.restoring(dongle.name))])
  }

  /// What happened to a lock.
  private func causes(_ lock: LockLine, _ item: Item?) -> [NightlyNeed.Cause] {
    let diverged = item.map { !trouble.contains($0) } ?? false
    var causes: [NightlyNeed.Cause] = []
    if let item, unmetNews.contains(item) {
      causes.append(.unmet)
    } else if let item, diverged {
      causes.append(Self.cause(of: item.problem) ?? .diverged)
    }
    if lock.outOfUse != nil {
      causes.append(diverged ? .outOfUse : Self.cause(of: item?.problem) ?? .outOfUse)
    } else if let item, !diverged {
      causes.append(Self.cause(of: item.problem) ?? .trouble)
    }
    switch lock.left {
    case LockLine.notParked: causes.append(.notParked)
    case LockLine.notKnown: causes.append(.parkUnknown)
    default: break
    }
    if lock.battery?.low != nil { causes.append(.lowBattery) }
    return causes
  }

  /// What happened to a lock, by what kept a case from its verdict; `nil` where that is of no known kind.
  private static func cause(of trouble: Record.Trouble?) -> NightlyNeed.Cause? {
    guard let fault = trouble?.fault() else { return nil }
    switch (fault.symptom, fault.origin) {
    case (_, .program(let trouble)): return .program(trouble)
    case (.noAnswer, _), (.badAnswer, _), (.ended, _): return .stoppedAnswering
    case (.transportLost, _), (.noDevice, .transport): return .transportLost
    case (.noDevice, _): return .notFound
    case (.linkLost, _): return .linkLost
    default: return nil
    }
  }

  /// Who needs a person, and why, in one line: `2 of 3 locks need you: broken diverged, hangs stopped answering`.
  var needsLine: String? {
    let needs = needs
    guard let head = Self.head(needs, of: locks.count) else { return nil }
    return head + ": " + needs.map { "\($0.title)\($0.what)" }.joined(separator: ", ")
  }

  /// How many locks of how many need a person, or that the lab does.
  static func head(_ needs: [NightlyNeed], of count: Int) -> String? {
    guard !needs.isEmpty else { return nil }
    let locks = needs.count { $0.kind == .lock }
    if locks == 0 { return "the lab needs you" }
    return "\(locks) of \(counted(count, "lock")) \(locks == 1 ? "needs" : "need") you"
  }
}

extension NightlyNeed {
  /// What stands before what happened.
  var title: String {
    switch kind {
    case .lock: "\(name) "
    case .dongle, .place: "\(kind.rawValue) \(name) "
    case .bench: ""
    }
  }
}

// MARK: - What did not happen

/// What was planned and did not happen.
struct NightlyOmission: Equatable {
  /// What it is.
  enum Kind: String, CaseIterable {
    case cases, fuzzing
  }

  var kind: Kind
  /// Why.
  var reason: String
  /// On which locks.
  var locks: [String]
  /// How many cases.
  var count: Int?
}

extension NightlyOmission: CustomStringConvertible {
  /// A phrase: `fuzzing of front (no time was left)`.
  var description: String {
    switch kind {
    case .cases: "\(counted(count ?? 0, "case")) (\(reason))"
    case .fuzzing: "fuzzing of \(locks.joined(separator: ", ")) (\(reason))"
    }
  }
}

extension NightlyReport {
  /// What was planned and did not happen, and why.
  var notDone: [NightlyOmission] {
    var fuzzing: [NightlyOmission] = []
    for lock in night.locks {
      guard let why = night.reasonNotFuzzed(lock) else { continue }
      if let index = fuzzing.firstIndex(where: { $0.reason == why }) {
        fuzzing[index].locks.append(lock.lock.name)
      } else {
        fuzzing.append(NightlyOmission(kind: .fuzzing, reason: why, locks: [lock.lock.name]))
      }
    }
    let cases = notRun.sorted { $0.count > $1.count }.map {
      NightlyOmission(kind: .cases, reason: $0.reason, locks: $0.locks, count: $0.count)
    }
    return cases + fuzzing
  }
}

// MARK: - As data

extension NightlyNeed: Written {
  static let fields: [Field<Self>] = [
    .derived("kind", \.kind, .words()), .derived("name", \.name, .text), .derived("what", \.what, .text),
    .derived("causes", \.causes, .list(.object())), .derived("reasons", \.reasons, .list(.text)),
    .derived("commands", \.commands, .list(.object())),
  ]
}

extension NightlyNeed.Command: Written {
  static let fields: [Field<Self>] = [.derived("does", \.purpose, .words()), .derived("line", \.line, .text)]
}

extension NightlyNeed.Cause: Written {
  static let fields: [Field<Self>] = [
    .derived("cause", \.word, .words()), .known("program", \.program?.program, .text),
    .known("lastWords", \.program?.lastWords, .text),
  ]

  /// The word by which a program tells it from others.
  enum Word: String, CaseIterable {
    case diverged, outOfUse, notFound, notParked, parkUnknown, lowBattery, stoppedAnswering, transportLost
    case linkLost, trouble, missing, doesNotStart, neverAnswers, programFailed
    case unmet = "notAsExpected"
  }

  private var word: Word {
    switch self {
    case .diverged: .diverged
    case .unmet: .unmet
    case .stoppedAnswering: .stoppedAnswering
    case .notFound: .notFound
    case .transportLost: .transportLost
    case .linkLost: .linkLost
    case .outOfUse: .outOfUse
    case .notParked: .notParked
    case .parkUnknown: .parkUnknown
    case .lowBattery: .lowBattery
    case .program(let trouble):
      switch trouble.kind {
      case .notStarted: .doesNotStart
      case .silent: .neverAnswers
      case .ended, .stopped, .malformed: .programFailed
      }
    case .trouble: .trouble
    case .missing: .missing
    }
  }

  private var program: ProgramTrouble? {
    if case .program(let trouble) = self { return trouble }
    return nil
  }
}

extension NightlyOmission: Written {
  static let fields: [Field<Self>] = [
    .derived("what", \.kind, .words()), .derived("reason", \.reason, .text),
    .derived("locks", \.locks, .list(.text)), .known("count", \.count, .count),
  ]
}
