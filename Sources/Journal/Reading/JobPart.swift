import Basics

/// Which part of which job a run is, where an engine such as Slurm or Kubernetes started it as one of many.
///
/// An engine may start a part again when it was killed, and sometimes twice at once. Several runs of one part are goes at
/// the same work: one of them stands for all, and which one does not depend on the order in which they are looked at.
package struct JobPart: Hashable {
  /// The job, as its engine names it.
  package var job: String
  /// The part, from 1, and of how many.
  package var part: Int
  package var count: Int

  /// Reads what a manifest says: `"job":"slurm-4711","part":"3/16"`.
  package init?(job: String?, part: String?) {
    guard let job, !job.isEmpty, let (number, count) = Self.numbers(part) else { return nil }
    (self.job, self.part, self.count) = (job, number, count)
  }

  /// The numbers of `3/16`.
  fileprivate static func numbers(_ part: String?) -> (part: Int, count: Int)? {
    guard let sides = part?.split(separator: "/", omittingEmptySubsequences: false), sides.count == 2,
      let number = Int(sides[0]), let count = Int(sides[1]), number >= 1, number <= count
    else { return nil }
    return (number, count)
  }

  /// A text that orders the parts of a job as their numbers do.
  package var order: String { part.padded(to: 10) + "/" + count.padded(to: 10) }

  /// What a history calls the run: `part 03 of 16`.
  package var name: String {
    "part \(part.padded(to: String(count).utf8.count)) of \(count)"
  }

  /// Whether a history calls a part so.
  package static func isName(_ name: String) -> Bool {
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    return words.count == 4 && words[0] == "part" && words[2] == "of" && Int(words[1]) != nil
      && Int(words[3]) != nil
  }
}

/// How good a go at a part is: of several the greatest stands.
///
/// One that came to its end counts before one that did not; among those a divergence is never hidden by a go without it;
/// then who judged more cases.
package struct GoRank: Comparable {
  private let isWhole: Bool
  private let divergences: Int
  private let judged: Int

  /// - Parameters:
  ///   - status: what it ended with; `nil` when it did not.
  ///   - judged: how many cases agreed, diverged or were skipped.
  package init(status: Int?, divergences: Int, judged: Int) {
    isWhole = status.map { [0, 1, 4].contains($0) } ?? false
    (self.divergences, self.judged) = (divergences, judged)
  }

  package static func < (left: GoRank, right: GoRank) -> Bool {
    if left.isWhole != right.isWhole { return right.isWhole }
    if left.divergences != right.divergences { return left.divergences < right.divergences }
    return left.judged < right.judged
  }
}

extension JournalIndex {
  /// How good a go a journal tells of, which is the only one that was read.
  package var goRank: GoRank {
    let summary = RunSummary(self)
    return GoRank(
      status: summary.problems.isEmpty ? statuses.first ?? nil : nil, divergences: summary.tally.failures,
      judged: summary.tally.agree + summary.tally.failures + summary.tally.skipped)
  }

  /// The runs that stand, each for all goes at its part; runs that are no part of a job stand for themselves.
  ///
  /// - Parameter sources: the runs in an order that does not depend on how they were named.
  package static func standing(_ sources: [Source]) -> [Source] {
    var goes: [JobPart: [Int]] = [:]
    for (number, source) in sources.enumerated() {
      if let part = source.manifest.jobPart { goes[part, default: []].append(number) }
    }
    return sources.enumerated().filter { number, source in
      guard let part = source.manifest.jobPart, let all = goes[part], all.count > 1 else { return true }
      var best: (number: Int, rank: GoRank)?
      for other in all {
        let rank = JournalIndex(alone: sources[other]).goRank
        if best.map({ $0.rank < rank }) ?? true { best = (other, rank) }
      }
      return best?.number == number
    }.map(\.element)
  }

  /// Says of each job of which runs are parts which parts are not there: what they would say is not known.
  ///
  /// Runs that no engine started are parts of one where they are of as many and have one seed; or, where each drew its
  /// own, where they complete each other.
  package static func missingParts(of sources: [Source]) -> [String] {
    var jobs: [(name: String, words: String, count: Int, parts: Set<Int>)] = []
    for source in sources {
      let manifest = source.manifest
      guard let (part, count) = JobPart.numbers(manifest.part) else { continue }
      let (name, words) =
        if let job = manifest.job, !job.isEmpty {
          ("job \(job)", "of the job \(job) ")
        } else {
          ("seed \(manifest.seed.map(String.init) ?? "")", "")
        }
      if let place = jobs.firstIndex(where: { $0.name == name && $0.count == count }) {
        jobs[place].parts.insert(part)
      } else {
        jobs.append((name, words, count, [part]))
      }
    }
    var whole: [(name: String, words: String, count: Int, parts: Set<Int>)] = []
    for job in jobs {
      let place = whole.firstIndex {
        job.words.isEmpty && $0.words.isEmpty && $0.count == job.count && $0.parts.isDisjoint(with: job.parts)
      }
      if let place { whole[place].parts.formUnion(job.parts) } else { whole.append(job) }
    }
    return whole.compactMap { job in
      let missing = (1...job.count).filter { !job.parts.contains($0) }
      guard let first = missing.first else { return nil }
      let list = missing.prefix(10).map { "\($0)/\(job.count)" }.joined(separator: ", ")
      let rest = missing.count > 10 ? " and \(missing.count - 10) more" : ""
      return missing.count == 1
        ? "part \(first)/\(job.count) \(job.words)is not among the runs"
        : "the parts \(list)\(rest) \(job.words)are not among the runs"
    }
  }
}
