import Conformance
public import Documents
import Basics

extension Finding {
  /// The finding as a member of the journal.
  func json(path: String) -> JSON {
    var members: [JSON.Member] = [
      .init("number", .integer(number)), .init("signature", .text(signature)),
      .init("message", .text(divergence.summary)), .init("events", .integer(foundAt)),
      .init("length", .integer(foundLength)), .init("shortest", .integer(test.choices.count)),
      .init(
        "shrinking",
        [
          "runs": .integer(shrinking.runs), "events": .integer(shrinking.events),
          "end": .text(shrinking.end),
        ]),
      .init("confirmation", confirmation.json),
    ]
    if let past { members.append(.init("past", past.json)) }
    if let twin { members.append(.init("twin", .text(twin.text))) }
    members += [.init("count", .integer(count)), .init("file", .text(path))]
    return .mapping(members)
  }
}

extension Finding.Past {
  fileprivate var json: JSON {
    switch self {
    case .unknown: .text("unknown")
    case .irrelevant: .text("irrelevant")
    case .included: .text("included")
    case .needed: .text("needed")
    }
  }
}

extension Confirmation {
  var json: JSON {
    [
      "verdict": .text(verdict.rawValue), "shown": .integer(shown), "runs": .integer(runs),
      "disturbed": .integer(disturbed), "likelihoodRatio": .decimal(likelihoodRatio),
    ]
  }
}

extension CampaignStatus {
  /// The figures as a journal and a program read them.
  public var json: JSON {
    [
      "phase": .text(phase), "events": .integer(events), "tests": .integer(tests),
      "extraEvents": .integer(extraEvents),
      "findings": .integer(depths.count), "depths": .list(depths.map(JSON.integer)),
      "repeats": .integer(repeats), "labFaults": .integer(labFaults), "unjudged": .integer(unjudged),
      "corpus": .integer(corpus),
      "contexts": .integer(contexts), "longest": .integer(longest),
      "stability": [.integer(stability.same), .integer(stability.tried)],
      "actuations": .integer(actuations), "lockTime": .decimal(lockTime.seconds),
      "waited": .decimal(waited.seconds),
    ]
  }
}
