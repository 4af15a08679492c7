import Harness
import Basics
import System

/// The files of a run with very many cases, for measuring the cost of its reports.
///
/// A thousand scenarios run in repetitions, as with `run --repeat`, with five lines per case. One case in a thousand
/// diverges, with all the details of a divergence. A few cases are skipped, fail because of the lab, or agree at the
/// second attempt.
struct MillionCases {
  /// The number of cases.
  var count = 1_000_000

  private static let scenarios = 1000

  /// Writes the manifest and the journal of the run.
  ///
  /// - Parameter folder: The folder of the run, which must exist.
  func write(to folder: String) throws(FileFault) {
    try WholeFile.replace(folder + "/manifest.json", with: manifest)
    let journal = try OutputFile(creating: folder + "/journal.jsonl")
    var text = #"{"run":{"format":1,"seed":42,"cases":\#(count)}}"# + "\n"
    let rounds = (count + Self.scenarios - 1) / Self.scenarios
    for number in 0..<count {
      text += lines(Test(number: number, scenario: number / rounds, round: number % rounds + 1))
      if text.utf8.count > 1 << 18 {
        try journal.write(text)
        text = ""
      }
    }
    try journal.write(text + end)
  }

  private var manifest: String {
    #"{"name":"2026-11-20T22-38-51-run","host":"bench-01","start":"2026-11-20T22:38:51Z","version":"1.0","#
      + #""seed":42,"command":["run","Scenarios/"],"properties":{"revision":"61f6abf"}}"# + "\n"
  }

  private struct Test {
    var number: Int
    var scenario: Int
    var round: Int

    var id: String { "Scenarios/family\(scenario / 50)/scenario-\(scenario)#\(round)" }
    var file: String { "Scenarios/family\(scenario / 50)/scenario-\(scenario).yaml" }
    /// A number that looks like a seed.
    var seed: UInt64 { UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15 }
    var digest: String { ((seed ^ seed >> 29) | 1 << 63).hex(digits: 16) }
  }

  /// The result of a case; most cases agree.
  private enum Outcome { case agrees, diverges, fails, isSkipped, agreesLater }

  private func outcome(_ number: Int) -> Outcome {
    switch number % 5000 {
    case 500, 1500, 2500, 3500, 4500: .diverges
    case 1234: .fails
    case 2345: .isSkipped
    case 3456: .agreesLater
    default: .agrees
    }
  }

  private func lines(_ test: Test) -> String {
    switch outcome(test.number) {
    case .agrees: start(test) + events(test) + agreement(test)
    case .diverges: start(test) + events(test) + divergence(test)
    case .fails:
      start(test) + #"{"t":"0.000","lab":"the dongle is gone","attempt":1}"# + "\n"
        + #"{"verdict":"lab-fault","case":"\#(test.id)","t":"0.000","message":"the dongle is gone"}"# + "\n"
    case .isSkipped:
      start(test) + #"{"verdict":"skipped","case":"\#(test.id)","message":"the battery is at 18 %"}"# + "\n"
    case .agreesLater:
      start(test) + events(test) + divergence(test) + start(test, attempt: 2) + events(test) + agreement(test)
    }
  }

  private func start(_ test: Test, attempt: Int = 1) -> String {
    #"{"case":{"id":"\#(test.id)","name":"Scenario \#(test.scenario) leaves no half-open session","#
      + #""file":"\#(test.file)","line":2,"tags":["link"],"machine":"sesame","model":"8f31c2d0a4b1c6e7","#
      + #""device":"emulator:sesame5","firmware":"3.0-5-18a8e4","seed":\#(test.seed),"digest":"\#(test.digest)""#
      + (attempt > 1 ? #","attempt":\#(attempt)}}"# : "}}") + "\n"
  }

  private func events(_ test: Test) -> String {
    #"{"t":"0.000","step":1,"line":7,"stimulus":"connect","model":["connecting","noSignal"]}"# + "\n"
      + #"{"t":"0.007","status":"connecting"}"# + "\n"
      + #"{"t":"0.\#(100 + test.number % 900)","status":"logining","model":["logining"]}"# + "\n"
  }

  private func agreement(_ test: Test) -> String {
    #"{"verdict":"agree","case":"\#(test.id)","t":"3.\#(100 + test.number % 900)"}"# + "\n"
  }

  private func divergence(_ test: Test) -> String {
    #"{"verdict":"divergence","case":"\#(test.id)","t":"10.113","step":4,"line":10,"#
      + #""message":"the lock stayed connected","expected":"noSignal","observed":"logining","#
      + #""details":["model   logining ──timeout──▶ noSignal","lock    logining ──────────── logining"],"#
      + #""allowed":[{"state":"logining (configured)","cause":"timeout","shows":"noSignal"}],"#
      + #""signature":"sesame/\#(test.scenario)/logining/noSignal","#
      + #""attachments":[{"kind":"capture","path":"packets/\#(test.number).btsnoop"}],"#
      + #""replay":"lockstep replay Reports/failures/scenario-\#(test.scenario)-8f31c2.yaml"}"# + "\n"
  }

  private var end: String {
    let outcomes = (0..<5000).map(outcome)
    func tally(_ outcome: Outcome) -> Int {
      count / 5000 * outcomes.count { $0 == outcome } + outcomes[..<(count % 5000)].count { $0 == outcome }
    }
    return
      #"{"end":{"cases":\#(count),"agree":\#(tally(.agrees) + tally(.agreesLater)),"#
      + #""divergences":\#(tally(.diverges)),"labFaults":\#(tally(.fails)),"skipped":\#(tally(.isSkipped)),"#
      + #""incomplete":0,"status":1}}"# + "\n"
  }
}
