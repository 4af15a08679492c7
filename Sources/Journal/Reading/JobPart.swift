import Basics

/// The part of a job that a run is, if an engine such as Slurm or Kubernetes started it as one of many.
///
/// An engine may restart a part that was killed, and sometimes starts a part twice at once. Several runs of one part
/// are attempts at the same work: one of them represents all, and the choice does not depend on their order.
package struct JobPart: Hashable {
  /// The name that the engine gave the job.
  package var job: String
  /// The number of the part, from 1, and the number of parts.
  package var part: Int
  package var count: Int

  /// Creates a part from the members of a manifest: `"job":"slurm-4711","part":"3/16"`.
  package init?(job: String?, part: String?) {
    guard let job, !job.isEmpty, let (number, count) = Self.numbers(part) else { return nil }
    (self.job, self.part, self.count) = (job, number, count)
  }

  /// Returns the numbers of a part such as `3/16`.
  fileprivate static func numbers(_ part: String?) -> (part: Int, count: Int)? {
    guard let sides = part?.split(separator: "/", omittingEmptySubsequences: false), sides.count == 2,
      let number = Int(sides[0]), let count = Int(sides[1]), number >= 1, number <= count
    else { return nil }
    return (number, count)
  }

  /// A text whose order is that of the part numbers.
  package var order: String { part.padded(to: 10) + "/" + count.padded(to: 10) }

  /// The name of the run in the history: `part 03 of 16`.
  package var name: String {
    "part \(part.padded(to: String(count).utf8.count)) of \(count)"
  }

  /// Returns whether a name is that of a part in the history.
  package static func isName(_ name: String) -> Bool {
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    return words.count == 4 && words[0] == "part" && words[2] == "of" && Int(words[1]) != nil
      && Int(words[3]) != nil
  }
}

/// The rank of a run among several runs of the same part: the greatest represents the part.
///
/// A completed run outranks one that was not completed. Among equals, a run with more failures comes first, so that a
/// run without the failure never hides one; then the run that judged more cases.
package struct RunRank: Comparable {
  private let isWhole: Bool
  private let divergences: Int
  private let judged: Int

  /// - Parameters:
  ///   - status: The exit status; `nil` if the run did not end.
  ///   - judged: The number of cases that agreed, failed or were skipped.
  package init(status: Int?, divergences: Int, judged: Int) {
    isWhole = status.map { [0, 1, 4].contains($0) } ?? false
    (self.divergences, self.judged) = (divergences, judged)
  }

  package static func < (left: RunRank, right: RunRank) -> Bool {
    if left.isWhole != right.isWhole { return right.isWhole }
    if left.divergences != right.divergences { return left.divergences < right.divergences }
    return left.judged < right.judged
  }
}

extension JournalIndex {
  /// The rank of the run in the journal, if the index contains only one.
  package var runRank: RunRank {
    let summary = RunSummary(self)
    return RunRank(
      status: summary.problems.isEmpty ? statuses.first ?? nil : nil, divergences: summary.tally.failures,
      judged: summary.tally.agree + summary.tally.failures + summary.tally.skipped)
  }

  /// Returns the runs that represent their parts; a run that is not part of a job represents itself.
  ///
  /// - Parameter sources: The runs in an order that does not depend on their names.
  package static func representatives(of sources: [Source]) -> [Source] {
    var runsByPart: [JobPart: [Int]] = [:]
    for (number, source) in sources.enumerated() {
      if let part = source.manifest.jobPart { runsByPart[part, default: []].append(number) }
    }
    return sources.enumerated().filter { number, source in
      guard let part = source.manifest.jobPart, let all = runsByPart[part], all.count > 1 else { return true }
      var best: (number: Int, rank: RunRank)?
      for other in all {
        let rank = JournalIndex(alone: sources[other]).runRank
        if best.map({ $0.rank < rank }) ?? true { best = (other, rank) }
      }
      return best?.number == number
    }.map(\.element)
  }

  /// Returns a message for each job with missing parts, whose results are unknown.
  ///
  /// Runs that no engine started belong to one job if they have the same number of parts and the same seed. If each
  /// drew its own seed, they belong to one job if their parts complement each other.
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
      if let index = jobs.firstIndex(where: { $0.name == name && $0.count == count }) {
        jobs[index].parts.insert(part)
      } else {
        jobs.append((name, words, count, [part]))
      }
    }
    var whole: [(name: String, words: String, count: Int, parts: Set<Int>)] = []
    for job in jobs {
      let index = whole.firstIndex {
        job.words.isEmpty && $0.words.isEmpty && $0.count == job.count && $0.parts.isDisjoint(with: job.parts)
      }
      if let index { whole[index].parts.formUnion(job.parts) } else { whole.append(job) }
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
