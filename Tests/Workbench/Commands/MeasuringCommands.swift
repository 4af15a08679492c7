import CommandLine
import Automata
import Basics
import Bench
import Benchmarks
import Conformance
import Emulator
import Journal
import Models
import System
import lockstep

// What other programs call to measure, and nobody else.

extension Command {
  /// The whole table of `make bench-air`.
  static var airTable: Command {
    Command(
      "air-table", "Searches for every defect over a radio that loses packets, for 'make bench-air'.",
      options: [
        .value(
          "seeds", \.seedCount, "N", "How many seeds each defect is searched for with, 9 unless given.",
          example: "3"),
        .value("events", \.eventCount, "N", "The events on each healthy lock.", example: "10M"),
        .value("jobs", \.jobCount, "N", "How many searches run at a time.", example: "2", short: "j"),
      ], defaults: AirTable()
    ) { table, console throws(UsageError) in
      Interruption.listen(saying: "lockstep: stopped before everything was searched for")
      return table.perform(give: { console.print($0) }, say: { console.say($0) }) ? .agree : .internalFault
    }
  }
}

extension Command {
  /// One search of a table, in a process of its own; nothing for people.
  static var airSearch: Command {
    Command(
      "air-search", "Searches for a defect, for 'lockstep air-table'.", defaults: ()
    ) { (_, console) throws(UsageError) in
      guard let order = EndOfInput.firstLine(), let json = try? JSON(parsing: order),
        let search = try? AirSearch(json)
      else { throw UsageError("this command is for 'lockstep air-table' alone") }
      endWithInput()
      guard let result = search.perform() else { return .internalFault }
      console.print(result.json)
      return .agree
    }
  }
}

extension Command {
  /// The reference lock as a program for `exec:` that answers at once, which `bench` measures with.
  static var execReference: Command {
    Command(
      "exec-reference", "Answers as the reference lock, for 'lockstep bench'.", defaults: ExecReference()
    ) { program, _ throws(UsageError) in
      guard let machine = try? Machine(.sesameTable) else { return .internalFault }
      var program = program
      program.serve(Vocabulary(machine: machine))
      return .agree
    }
  }
}

extension Command {
  /// One of the processes of `bench --only lab.lease`; nothing for people.
  static var leaseContestant: Command {
    Command(
      "lease-contestant", "Takes leases for 'lockstep bench'.",
      operands: .init(
        placeholder: "WORD", summary: "What the bench says.", count: 3...3, as: .words, path: \.self),
      defaults: [String]()
    ) { words, _ throws(UsageError) in
      guard LeaseContest.takePart(words) else {
        throw UsageError("this command is for 'lockstep bench' alone")
      }
      return .agree
    }
  }
}

extension Command {
  /// The nights of `make simulated-nights`.
  static var simulatedNights: Command {
    Command(
      "simulated-nights", "Lives through nights of labs in virtual time, for 'make simulated-nights'.",
      options: [
        .value("nights", \.nightCount, "N", "How many, 10000 unless given.", example: "500"),
        .value("seed", \.seed, "N", "The seed of the first lab, 1 unless given.", example: "42"),
      ], defaults: SimulatedNights()
    ) { nights, console throws(UsageError) in
      nights.perform { console.print($0) } ? .agree : .internalFault
    }
  }
}

extension AirTable {
  fileprivate var seedCount: Count {
    get { Count(seeds) }
    set { seeds = newValue.value }
  }
  fileprivate var eventCount: EventCount {
    get { EventCount(events) }
    set { events = newValue.value }
  }
  fileprivate var jobCount: Count {
    get { Count(jobs) }
    set { jobs = newValue.value }
  }
}

extension SimulatedNights {
  fileprivate var nightCount: Count {
    get { Count(nights) }
    set { nights = newValue.value }
  }
}

/// Ends this process when the one that waits for its result is gone: nothing of a search is worth keeping.
private func endWithInput() {
  EndOfInput.watch()
  inBackground {
    while !EndOfInput.isReached { rest(for: .milliseconds(50)) }
    Host.exitAtOnce(CommandStatus.incomplete.rawValue)
  }
}
