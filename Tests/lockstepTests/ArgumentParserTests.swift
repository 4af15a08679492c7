@testable import CommandLine
@testable import Reporting
import Journal
@testable import System
import Basics
import TestSupport
import Testing

@testable import lockstep

private struct Values: Equatable {
  var names: [String] = []
  var seed: UInt64?
  var count = Count(1)
  var isQuiet = false
  var verbosity = 0
  var time = Interval.seconds(5)
  var color = ColorChoice.auto
  var shard: Shard?
}

private func parse(_ words: String, operands: ClosedRange<Int> = 0...2) throws(UsageError) -> Values? {
  let parser = ArgumentParser<Values>(
    options: [
      .value("seed", \.seed, "N", "A seed.", example: "1", short: "s"),
      .value("count", \.count, "N", "A count.", example: "1"),
      .flag("quiet", \.isQuiet, "Says less.", short: "q"),
      .repeated("verbose", \.verbosity, "Says more.", short: "v"),
      .value("time", \.time, "TIME", "A time.", example: "1s"),
      .value("color", \.color, "WHEN", "A choice.", example: "auto"),
      .value("shard", \.shard, "I/N", "A part.", example: "1/2"),
    ], operands: .init(placeholder: "NAME", summary: "Names.", count: operands, path: \.names))
  switch try parser.parse(words.split(separator: " ").map(String.init), into: Values()) {
  case .help: return nil
  case .run(let values): return values
  }
}

@Suite("Command lines")
struct ArgumentParserTests {
  @Test("options may stand anywhere, with a space or an equals sign, and the last one holds")
  func values() throws {
    let shard = Shard(argument: "2/4")
    expect(
      try parse("a --seed=42 --quiet b --count 3 --time 1.5s --color never --shard 2/4"),
      Values(
        names: ["a", "b"], seed: 42, count: Count(3), isQuiet: true, time: .milliseconds(1500), color: .never,
        shard: shard))
    expect(try parse("--seed 1 --seed 18446744073709551615"), Values(seed: .max))
    expect(try parse("--time 2"), Values(time: .seconds(2)))
    expect(try parse("-- --seed -x"), Values(names: ["--seed", "-x"]))
    expect(try parse("-"), Values(names: ["-"]))
    expect(try parse("a --help --nonsense"), nil)
    expect(try parse("-h"), nil)
    expect(try parse("-qvv -s 3 -v a"), Values(names: ["a"], seed: 3, isQuiet: true, verbosity: 3))
    expect(try parse("-qs3 --verbose"), Values(seed: 3, isQuiet: true, verbosity: 1))
  }

  @Test(
    "what is wrong is said in one line",
    arguments: [
      ("--sed 3", "unknown option '--sed': did you mean '--seed'?"), ("--zzz", "unknown option '--zzz'"),
      ("-x 3", "unknown option '-x'"), ("-qx", "unknown option '-x'"),
      ("-qs", "'--seed' needs a value: --seed N"),
      ("-sede", "'--seed' expects a whole number from 0 to 18446744073709551615, not 'ede'"),
      ("-verbos", "unknown option '-e'"),
      ("-sx", "'--seed' expects a whole number from 0 to 18446744073709551615, not 'x'"),
      ("--quiet=yes", "'--quiet' takes no value"),
      ("--seed", "'--seed' needs a value: --seed N"), ("--seed --quiet", "'--seed' needs a value: --seed N"),
      ("--seed=", "'--seed' expects a whole number from 0 to 18446744073709551615, not ''"),
      ("--seed -1", "'--seed' expects a whole number from 0 to 18446744073709551615, not '-1'"),
      ("--seed 1_0", "'--seed' expects a whole number from 0 to 18446744073709551615, not '1_0'"),
      ("--count 0", "'--count' expects a whole number from 1 to 1000000, not '0'"),
      ("--time 0", "'--time' expects a duration such as 5s, not '0'"),
      ("--time soon", "'--time' expects a duration such as 5s, not 'soon'"),
      ("--color red", "'--color' expects one of auto, always, never, not 'red'"),
      ("--shard 5/4", "'--shard' expects a part of so many, such as 2/4, not '5/4'"),
      ("--shard 0/4", "'--shard' expects a part of so many, such as 2/4, not '0/4'"),
      ("--shard 1", "'--shard' expects a part of so many, such as 2/4, not '1'"),
      ("a b c", "unexpected argument 'c'"),
    ])
  func wrong(words: String, message: String) {
    #expect(throws: UsageError(message)) { try parse(words) }
  }

  @Test("an operand that must be there is missed")
  func missing() {
    #expect(throws: UsageError("missing NAME")) { try parse("--quiet", operands: 1...1) }
  }

  @Test(
    "a word for the shell is quoted where it must be",
    arguments: [
      ("Scenarios/a-b_c.yaml", "Scenarios/a-b_c.yaml"), ("exec:python3 x.py", "'exec:python3 x.py'"),
      ("it's", #"'it'\''s'"#), ("", "''"), ("a?b=c", "'a?b=c'"), ("é", "'é'"),
    ])
  func shellWords(word: String, quoted: String) {
    expect(shellWord(word), quoted)
  }

  @Test("letters mean what the long options mean")
  func letters() throws {
    for words in [["-j", "3", "-k", "jam", "-xk", "tag(a)"], ["-j3", "-kjam", "-x", "-k", "tag(a)"]] {
      let parser = ArgumentParser(options: RunArguments.options, operands: RunArguments.paths)
      guard case .run(let values) = try parser.parse(words, into: RunArguments()) else { continue }
      expect(values.jobs, Count(3))
      expect(values.filters, ["jam", "tag(a)"])
      expect(values.failsFast, true)
    }
    let letters = CommandSet.lockstep.all.map { command in
      command.name + command.options.compactMap { form in form.short.map { " \($0)=\(form.name)" } }.joined()
    }
    expect(
      letters.filter { $0.hasPrefix("run ") },
      ["run k=filter j=jobs x=fail-fast o=out q=quiet v=verbose h=help"])
    expect(letters.filter { $0.hasPrefix("fuzz ") }, ["fuzz j=jobs o=out q=quiet v=verbose h=help"])
  }

  @Test(
    "each option of a command with headings stands below one of them",
    arguments: ["run", "fuzz", "cover", "replay", "nightly"])
  func headings(name: String) throws {
    let command = try #require(CommandSet.lockstep.all.first { $0.name == name })
    for option in command.options {
      #expect(command.groups.count { $0.names.contains(option.name) } == 1, "\(option.name)")
    }
    let help = command.help
    let headings = command.groups.map(\.heading).filter { help.contains("\n\($0):\n") }
    #expect(headings.count >= 4, "\(headings)")
    #expect(!help.contains("Other options"))
    for option in command.options {
      #expect(
        help.split(separator: "\n").count { $0.hasPrefix("  " + option.synopsis) } == 1, "\(option.name)")
    }
  }
}
