import Basics
import Bench
import Conformance
import Journal
import System

/// A lock, or something else of the lab, that needs a person in the morning.
struct NightlyNeed: Equatable {
  /// What it is.
  enum Kind: Equatable {
    case lock
    case transport(NightTransport)
    case bench
  }

  var kind: Kind
  var name: String
  /// What happened, for the headline: `diverged`.
  var what: String
  /// What happened, a sentence each.
  var reasons: [String] = []
  /// What to do about it, as lines to paste where the night was started.
  var commands: [String] = []
  /// The number of the first of its failures on the page; `nil` where it has none there.
  var item: Int?
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
      + runs.lab.unmet.map { NightlyNeed(kind: .bench, name: "the bench", what: $0, reasons: [$0]) }
  }

  private func need(of lock: LockLine, _ failed: [(item: Item, number: Int)]) -> NightlyNeed? {
    let first = failed.first
    guard first != nil || lock.isBad || !lock.trouble.isEmpty else { return nil }
    var need = NightlyNeed(kind: .lock, name: lock.name, what: "", item: first?.number)
    need.reasons = lock.trouble
    if let first, lock.outOfUse == nil {
      need.reasons.insert(String(first.item.message.prefix { $0 != "\n" }), at: 0)
    }
    need.what = what(lock, first?.item)
    // What is out of use can be tried again once it is restored.
    if lock.outOfUse != nil || lock.battery?.low != nil { need.commands.append(restoring(lock.name)) }
    if let replay = first?.item.replay { need.commands.append(replay) }
    return need
  }

  private func need(of dongle: DongleLine) -> NightlyNeed? {
    guard let why = dongle.trouble else { return nil }
    return NightlyNeed(
      kind: .transport(dongle.kind), name: dongle.name, what: "is out of use",
      reasons: ["out of use: \(why)"], commands: [restoring(dongle.name)])
  }

  /// What happened to a lock, in a word or two.
  private func what(_ lock: LockLine, _ item: Item?) -> String {
    let diverged = item.map { !trouble.contains($0) } ?? false
    var words: [String] = []
    if let item, unmetNews.contains(item) {
      words.append("is not as expected")
    } else if let item, diverged {
      words.append(Self.symptom(of: item.message) ?? "diverged")
    }
    if let why = lock.outOfUse {
      words.append(diverged ? "is out of use" : Self.symptom(of: why) ?? "is out of use")
    } else if let item, !diverged {
      words.append(Self.symptom(of: item.message) ?? "had trouble")
    }
    switch lock.left {
    case LockLine.notParked: words.append("is not parked")
    case LockLine.notKnown: words.append("may not be parked")
    default: break
    }
    if lock.battery?.low != nil { words.append("has a low battery") }
    var known: [String] = []
    for word in words where !known.contains(word) { known.append(word) }
    return known.isEmpty ? "needs a look" : known.joined(separator: " and ")
  }

  /// What is said of a lock whose trouble is of a known kind.
  private static func symptom(of message: String) -> String? {
    let kinds: [(symptom: String, words: String)] = [
      ("stopped answering", "stopped answering"), (LabFault.Symptom.noAnswer.rawValue, "stopped answering"),
      (LabFault.Symptom.noDevice.rawValue, "was not found"),
      (LabFault.Symptom.transportLost.rawValue, "lost its transport"),
      (LabFault.Symptom.linkLost.rawValue, "kept losing its link"),
      (LabFault.Symptom.programFailed.rawValue, "has a driver that failed"),
      (LabFault.Symptom.ended.rawValue, "stopped answering"),
    ]
    // Behind `3 runs failed one after the other: `, or at the beginning.
    return kinds.first { message.hasPrefix($0.symptom) || message.contains(": \($0.symptom): ") }?.words
  }

  private func restoring(_ name: String) -> String { runs.lab.restoring(name) }

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
    case .transport(let kind): "\(kind) \(name) "
    case .bench: ""
    }
  }
}

// MARK: - What did not happen

extension NightlyReport {
  /// What was planned and did not happen, and why, a phrase each.
  var notDone: [String] {
    var fuzzing: [(why: String, locks: [String])] = []
    for lock in night.locks {
      guard let why = night.reasonNotFuzzed(lock) else { continue }
      if let index = fuzzing.firstIndex(where: { $0.why == why }) {
        fuzzing[index].locks.append(lock.lock.name)
      } else {
        fuzzing.append((why, [lock.lock.name]))
      }
    }
    return notRun.sorted { $0.count > $1.count }.map { "\(counted($0.count, "case")) (\($0.reason))" }
      + fuzzing.map { "fuzzing of \($0.locks.joined(separator: ", ")) (\($0.why))" }
  }
}
