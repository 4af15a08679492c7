import Basics
import Bench
import Conformance
import Harness
import Journal
import System

/// A lock, or another part of the lab, that needs a person in the morning.
struct NightlyNeed: Equatable {
  /// The kind of subject.
  enum Kind: String, CaseIterable {
    case lock, dongle, place, bench
  }

  /// The cause.
  enum Cause: Equatable {
    case diverged, unmet, stoppedAnswering, notFound, transportLost, linkLost, outOfUse, notParked
    /// It is unknown whether it is parked.
    case parkUnknown
    case lowBattery
    /// A program of it failed, or does not start.
    case program(ProgramTrouble)
    /// Another lab fault.
    case trouble
    /// The bench lacks something that the plan needs, described by the text.
    case missing(String)
  }

  /// A command to run where the night was started.
  struct Command: Equatable {
    /// The purpose of the command.
    enum Purpose: String, CaseIterable {
      /// Restores a device that is out of use.
      case restore
      /// Parks a lock.
      case park
      /// Replays a failure.
      case replay
    }

    var purpose: Purpose
    var line: String
  }

  var kind: Kind
  var name: String
  /// The causes, the most serious first.
  var causes: [Cause] = []
  /// The causes as sentences.
  var reasons: [String] = []
  /// The commands, in this order.
  var commands: [Command] = []
  /// The number of its first failure on the page; `nil` if it has none there.
  var item: Int?

  /// The most serious cause, for the headline: `diverged`.
  var what: String {
    var known: [String] = []
    for words in causes.map(\.description) where !known.contains(words) { known.append(words) }
    return known.isEmpty ? "needs a check" : known.joined(separator: " and ")
  }
}

extension NightlyNeed.Cause: CustomStringConvertible {
  /// The subject with its causes.
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

// MARK: - Needs

extension NightlyReport {
  /// The needs: of locks in the order of the bench, then of dongles or places.
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
    // A failure can be replayed once the device is restored; the motor of a lock that is jammed or low must
    // not move before.
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

  /// The causes of a lock's need.
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

  /// The cause of a lab fault; `nil` if its kind is unknown.
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

  /// The needs in one line: `2 of 3 locks need you: broken diverged, hangs stopped answering`.
  var needsLine: String? {
    let needs = needs
    guard let head = Self.head(needs, of: locks.count) else { return nil }
    return head + ": " + needs.map { "\($0.title)\($0.what)" }.joined(separator: ", ")
  }

  /// The headline of the needs: how many locks need a person, or that the lab does.
  static func head(_ needs: [NightlyNeed], of count: Int) -> String? {
    guard !needs.isEmpty else { return nil }
    let locks = needs.count { $0.kind == .lock }
    if locks == 0 { return "the lab needs you" }
    return "\(locks) of \(counted(count, "lock")) \(locks == 1 ? "needs" : "need") you"
  }
}

extension NightlyNeed {
  /// The title before the cause.
  var title: String {
    switch kind {
    case .lock: "\(name) "
    case .dongle, .place: "\(kind.rawValue) \(name) "
    case .bench: ""
    }
  }
}

// MARK: - Omissions

/// A planned activity that did not happen.
struct NightlyOmission: Equatable {
  /// The kind of activity.
  enum Kind: String, CaseIterable {
    case cases, fuzzing
  }

  var kind: Kind
  /// The reason.
  var reason: String
  /// The locks.
  var locks: [String]
  /// The number of cases.
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
  /// The planned activities that did not happen, with the reasons.
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

  /// The words by which programs distinguish them.
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
