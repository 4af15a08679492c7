import Basics
import Expressions
import Testing

@Suite("Expressions")
struct ExpressionsTests {
  /// Evaluates an expression over some variables.
  private func evaluate(
    _ text: String, as type: ValueType? = nil, _ variables: [(String, ValueType, Value)] = []
  ) throws -> Value {
    var strings = Strings()
    var scope = Scope()
    for (name, type, _) in variables { scope.add(name, type) }
    let program = try Program(text, as: type, in: scope, strings: &strings)
    var frame = Frame(width: program.width)
    for (name, type, value) in variables {
      #expect(frame.write(value, as: type, at: scope[name]?.slot ?? 0, &strings))
    }
    program.run(in: &frame, strings: &strings)
    return frame.value(program.type, at: program.result, strings)
  }

  /// Expressions, and what their values are shown as. Every function is in one of them.
  private static let examples: [(text: String, shown: String)] = [
    ("1 + 2 * 3 - 4 % 3", "6"), ("-(2 - 5)", "3"), ("0x10 + 1", "17"),
    ("-9223372036854775808", "-9223372036854775808"),
    ("9223372036854775807 + 1", "absent"), ("-9223372036854775808 / -1", "absent"), ("1 / 0", "absent"),
    ("7 / -2", "-3"), ("7 % -2", "1"), ("1.5 + 2.5", "4.0"), ("1.0 / 0.0", "inf"), ("0.0 / 0.0", "absent"),
    ("1 < 2 && 2.0 >= 2.0 && 'a' < 'b' && !(b'a' == b'b')", "yes"), ("true ? 'a' : 'b'", "a"),
    ("'a' + 'b' == \"ab\"", "yes"), ("'h\\u00e9llo'.size() + b'h\\303\\251'.size()", "8"),
    ("'héllo'.substring(1, 3) + 'abc'.substring(2)", "élc"), ("'abc'.substring(2, 1)", "absent"),
    ("'1234'.startsWith('12') && '1234'.endsWith('34') && '1234'.contains('23')", "yes"),
    ("b'\\x01\\x02\\x03'.slice(1)", "0203"), ("b'\\x01\\x02'[1] + b'\\x01'.at(0)", "3"),
    ("b'a'[1]", "absent"),
    ("[1, 2, 3].append(4)", "[1, 2, 3, 4]"), ("[1, 2].prepend(0)", "[0, 1, 2]"),
    ("[1, 2, 3].take(2)", "[1, 2]"),
    ("[1, 2, 3].drop(1)", "[2, 3]"), ("[1, 2, 3].slice(1, 2)", "[2]"), ("[1, 2] + [3]", "[1, 2, 3]"),
    ("[1, 2, 3][-1]", "3"), ("[1, 2].first() + [1, 2].last()", "3"), ("[1, 2][2]", "absent"),
    ("[1, 2, 3].remove(0)", "[2, 3]"), ("[1, 2].replace(1, 9)", "[1, 9]"), ("[1, 2].indexOf(2)", "1"),
    ("2 in [1, 2] && ![1, 2].contains(3)", "yes"), ("['a', 'b'].join('-')", "a-b"), ("[].size()", "0"),
    ("int('12') + int(2.9)", "14"), ("int('x')", "absent"), ("double(2)", "2.0"),
    ("string(12) + string(true)", "12true"),
    ("string(b'ab')", "ab"), ("bytes('ab')", "6162"), ("string(b'\\377')", "absent"),
    ("min(3, 2) + max(3, 2)", "5"),
    ("duration('1m30s') + seconds(2) - milliseconds(500)", "91.5 s"),
    ("duration('-1h').getSeconds() + seconds(2).getMilliseconds()", "-1600"),
    ("seconds(3) * 2 > seconds(5)", "yes"),
    ("littleEndian(b'\\001\\002') + bigEndian(b'\\001\\002')", "771"),
    ("littleEndianBytes(513, 2) + bigEndianBytes(513, 2)", "01020201"),
    ("crc8(b'123456789')", "244"), ("crc16(b'123456789')", "10673"), ("crc32(b'123456789')", "3421780262"),
    ("r'\\n' + '''a'b'''", "\\na'b"), ("1 // one\n + 1", "2"),
  ]

  @Test("values", arguments: examples)
  func values(_ text: String, _ shown: String) throws {
    #expect(try evaluate(text).description == shown)
  }

  @Test(
    "what is not known, and what does not exist",
    arguments: [
      ("u", "unknown"), ("a", "absent"), ("u + a", "unknown"), ("a + 1", "absent"), ("u == 1", "unknown"),
      ("f && false", "no"), ("f || true", "yes"), ("f && true", "unknown"), ("a == 1 && false", "no"),
      ("a == 1 || f", "unknown"), ("!f", "unknown"), ("f ? 1 : 1", "1"), ("f ? 1 : 2", "unknown"),
      ("a == 1 ? 1 : 1", "absent"), ("[1, u] == [2, 1]", "no"), ("[1, u] == [1, 1]", "unknown"),
      ("1 in [1, u]", "yes"), ("2 in [1, u]", "unknown"), ("[1, u].size()", "2"),
      ("[u, 1].indexOf(1)", "unknown"),
      ("[1, u][0]", "1"), ("[1, 2][u]", "unknown"), ("[1].append(u)", "[1, unknown]"),
      ("[1].drop(1).first() == 1", "absent"),
    ])
  func openValues(_ text: String, _ shown: String) throws {
    let variables: [(String, ValueType, Value)] = [
      ("u", .anyInteger, .unknown), ("a", .anyInteger, .absent), ("f", .flag, .unknown),
    ]
    #expect(try evaluate(text, variables).description == shown)
  }

  @Test(
    "faults, with the part of the text that each is about",
    arguments: [
      ("", "expected an expression", ""), ("1 +", "expected an expression, found the end", ""),
      ("(1", "expected `)`, found the end", ""),
      ("1 2", "expected an operator or the end, found a number", "2"),
      ("trie + 1", "unknown name `trie`; did you mean `tries`?", "trie"),
      ("tries = 1", "unexpected `=`; two values are compared with `==`", "="),
      ("tries + '1'", "`+` is not possible with an integer and a text", "tries + '1'"),
      ("tries == 'a'", "an integer and a text have no type in common", "tries == 'a'"),
      ("tries ? 1 : 2", "expected a flag, found an integer", "tries"),
      ("mode == 'fast'", "`fast` is none of the words home, away", "'fast'"),
      ("mode == 'hme'", "`hme` is none of the words home, away; did you mean `home`?", "'hme'"),
      ("log.first().usr", "the record has no field `usr`; did you mean `user`?", "log.first().usr"),
      (
        "log.first",
        "a list of records of number, user has no fields; a function is called with brackets: `.first()`",
        "log.first"
      ),
      ("log.frist()", "unknown function `frist`; did you mean `first`?", "log.frist()"),
      ("log.take()", "`take` has another number of arguments; it is written list.take(count)", "log.take()"),
      ("[1].map(x, x)", "there are no loops, so there is no `map`", "[1].map(x, x)"),
      ("1u", "there are no unsigned numbers; write 1", "1u"),
      ("null", "there is no null: a value that does not exist is absent by itself", "null"),
      ("7s", "unexpected `s` after a number; a length of time is written duration('7s')", "7s"),
      ("duration('7 s')", "`7 s` is no length of time; as in 1m30s, 500ms", "'7 s'"),
      ("[[1]]", "a list of integers cannot be an element: an element contains no lists and no maps", "[[1]]"),
      ("[1, 'a']", "expected an integer, as the elements before, found a text", "'a'"),
      ("99999999999999999999", "the number does not fit in 64 bits", "99999999999999999999"),
      ("'a", "the text does not end", "'a"),
      ("'\\q'", "there is no such escape; a backslash is written \\\\", "\\q"),
      ("while", "`while` is a reserved word", "while"),
    ])
  func faults(_ text: String, _ message: String, _ part: String) throws {
    var strings = Strings()
    var scope = Scope()
    scope.add("tries", .integer(0...3))
    scope.add("mode", .word(["home", "away"]))
    scope.add("log", .list(RandomExpression.entry, capacity: 2))
    let fault = try #require(throws: ExpressionFault.self) { try Program(text, in: scope, strings: &strings) }
    let bytes = Array(text.utf8)
    #expect(fault.description == message)
    #expect(String(decoding: bytes[fault.range], as: UTF8.self) == part)
  }

  @Test("a text is nested so deeply and no deeper")
  func depth() throws {
    let text = { (count: Int) in
      String(repeating: "(", count: count) + "1" + String(repeating: ")", count: count)
    }
    #expect(try evaluate(text(99)) == .integer(1))
    #expect(throws: ExpressionFault.self) { try evaluate(text(100)) }
    #expect(throws: ExpressionFault.self) { try evaluate(text(100_000)) }
    #expect(throws: ExpressionFault.self) { try evaluate(String(repeating: "!", count: 100_000) + "true") }
  }

  @Test("a result is brought to the type of its variable")
  func results() throws {
    let tries = ValueType.integer(0...3)
    #expect(try evaluate("tries + 1", as: tries, [("tries", tries, .integer(3))]) == .integer(3))
    #expect(try evaluate("tries - 1", as: tries, [("tries", tries, .integer(0))]) == .integer(0))
    let log = ValueType.list(RandomExpression.entry, capacity: 2)
    let entries = (1...2).map { Value.record([("number", .integer($0)), ("user", .text("Bob"))]) }
    #expect(
      try evaluate(
        "log.prepend({'user': 'Eve', 'number': 3}).take(2)", as: log, [("log", log, .list(entries))])
        == .list([.record([("number", .integer(3)), ("user", .text("Eve"))]), entries[0]]))
    let fault = #expect(throws: ExpressionFault.self) {
      try evaluate("log.prepend({'user': 'Eve', 'number': 3})", as: log, [("log", log, .list([]))])
    }
    #expect(
      fault?.description
        == "the list may have 3 elements, and at most 2 are possible here; .take(2) keeps the first 2")
    #expect(try evaluate("[]", as: log) == .list([]))
  }

  @Test("maps: entries by key, at most so many")
  func maps() throws {
    let type = ValueType.map(.text, .anyInteger, capacity: 2)
    let users = Value.map([(.text("Bob"), .integer(1))])
    let variables = [("users", type, users)]
    #expect(try evaluate("users['Bob'] + users.Bob", variables) == .integer(2))
    #expect(try evaluate("users['Eve']", variables) == .absent)
    #expect(try evaluate("'Bob' in users && !users.contains('Eve')", variables) == .flag(true))
    #expect(try evaluate("users.put('Eve', 2).put('Bob', 3)['Bob']", variables) == .integer(3))
    #expect(try evaluate("users.put('Eve', 2).put('Kim', 3)", variables) == .absent)
    #expect(
      try evaluate("users.put('Eve', 2).remove('Bob')", variables) == .map([(.text("Eve"), .integer(2))]))
    #expect(try evaluate("users.remove('Bob').size()", variables) == .integer(0))
    #expect(try evaluate("{'Eve': 2, 'Bob': 1} == users.put('Eve', 2)", variables) == .flag(true))
  }

  @Test("every function has an example among the values", arguments: Function.all)
  func functions(_ function: Function) {
    let call = "\(function.name)("
    #expect(function.signature.contains(call))
    #expect(Self.examples.contains { $0.text.contains(call) } || ["put"].contains(function.name))
  }

  @Test("random expressions have the values of their definition, also where something is not known")
  func randomExpressions() throws {
    var random = RandomExpression(generator: SeededGenerator(seed: 7))
    var scope = Scope()
    for (name, type) in RandomExpression.variables { scope.add(name, type) }
    var counts = (known: 0, unknown: 0, absent: 0)
    for _ in 0..<20_000 {
      let kind = RandomExpression.Kind.allCases[random.pick(RandomExpression.Kind.allCases.count)]
      let text = random.text(kind, depth: 1 + random.pick(4))
      var strings = Strings()
      let program = try Program(text, in: scope, strings: &strings)
      var frame = Frame(width: program.width)
      var variables: [String: Value] = [:]
      for (entry, variable) in zip(scope.entries, RandomExpression.variables) {
        let value = random.value(variable.type)
        variables[variable.name] = value
        try #require(frame.write(value, as: variable.type, at: entry.slot, &strings))
      }
      program.run(in: &frame, strings: &strings)
      let found = frame.value(program.type, at: program.result, strings)
      let due = ReferenceEvaluator(variables: variables).evaluate(try Syntax(parsing: text)).inFull(
        program.type)
      try #require(found == due, "\(text) with \(variables)")
      switch found {
      case .unknown: counts.unknown += 1
      case .absent: counts.absent += 1
      default: counts.known += 1
      }
    }
    #expect(counts.known > 4000 && counts.unknown > 1000 && counts.absent > 1000, "\(counts)")
  }
}
