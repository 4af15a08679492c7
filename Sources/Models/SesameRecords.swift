import Automata

extension MachineDefinition {
  /// The history shows the commands of its clients: each at most once, in their order, with its whole tag, with the time
  /// of the lock's clock, under ascending numbers. A reset ends the history. The lock's clock keeps the time that the
  /// client has set.
  ///
  /// A command may leave no record: a full history drops its oldest. Of a new lock, or once the history was read to its
  /// end, the rule knows which commands the history may contain; not after messages that something other than the
  /// client has made.
  ///
  /// - `commands`: for each command that may be in the history, the event and the tag of its record, where a tag with the
  ///   most bytes of OS3 is cut; `shorter`: the same for OS2. A command without a tag of its own has that of the client,
  ///   which the rule does not know: `?`.
  /// - `times`: when each of them was given.
  /// - `rightSince`: since when the lock's clock shows the client's time; a far moment if that is not known. At a login,
  ///   the client reads the clock, and sets it if it is wrong.
  static let records = """
    rule: records
    states:
      - away
      - logining
      - locked
      - unlocked
      - { name: the clock was set and is wrong again, status: broken }
      - { name: the history shows a command without its tag, status: broken }
      - { name: "the history shows a command that was not given, was recorded before, or follows a later one", status: broken }
      - { name: the numbers of records do not ascend, status: broken }
      - { name: a record has another time than the clock of the lock, status: broken }
    variables:
      isKnown: { form: flag, first: "false" }
      commands: { form: { list: text, size: 24 }, first: "[]" }
      shorter: { form: { list: text, size: 24 }, first: "[]" }
      times: { form: { list: instant, size: 24 }, first: "[]" }
      doubt: { form: instant, first: "now - duration('1h')" }
      rightSince: { form: instant, first: "\(unknown)" }
      last: { form: { record: { number: integer, event: text, tag: text, time: instant } },
        first: "{'number': \(none), 'event': '', 'tag': '', 'time': now}" }
    starts:
      - { state: away }
      - { state: away, set: { isKnown: "true" } }
    transitions:
    \(commands)
    \(statuses)
    \(clock)
    \(history)
    """

  /// A moment that never comes.
  private static let unknown = "now + duration('900000h')"
  /// A number below that of every record.
  private static let none = "-4294967296"
  private static let all = "[away, logining, locked, unlocked]"

  /// How far a clock may be from the right time at a moment: some seconds, and a fifth of the time since it was set, since
  /// a clock may be slow or fast.
  private static func tolerance(_ seconds: String, at moment: String) -> String {
    "duration('\(seconds)s') + seconds((\(moment) - rightSince).getSeconds() / 5)"
  }

  /// Commands are given in a session. What a toggle does depends on the status that the client shows.
  private static let commands = [
    ("lock", "[locked, unlocked]", "lock"), ("unlock", "[locked, unlocked]", "unlock"),
    ("toggle", "locked", "unlock"), ("toggle", "unlocked", "lock"),
    ("setAutolock", "[locked, unlocked]", "autolock updated"),
  ].map { event, states, record in
    func given(_ tag: String, _ shorter: String) -> String {
      func kept(_ list: String, _ item: String) -> String {
        "(\(list).size() < 24 ? \(list) : \(list).drop(1)).append(\(item)).take(24)"
      }
      return """
            set:
              isKnown: isKnown && commands.size() < 24
              commands: "\(kept("commands", tag))"
              shorter: "\(kept("shorter", shorter))"
              times: "\(kept("times", "now"))"
        """
    }
    func cut(_ count: Int) -> String { "string(bytes(tag).slice(0, min(\(count), bytes(tag).size())))" }
    let tagged = """
        - event: \(event)
          from: \(states)
          when: \(cut(29)).size() >= 0 && \(cut(21)).size() >= 0
          to: =
      \(given("'\(record) ' + \(cut(29))", "'\(record) ' + \(cut(21))"))

      """
    let untagged = """
        - event: \(event)
          from: \(states)
          to: =
      \(given("'\(record) ?'", "'\(record) ?'"))
      """
    return (event == "setAutolock" ? "" : tagged) + untagged
  }.joined(separator: "\n")

  /// The client logs in between two statuses, and reads the clock meanwhile. The former owner's records end with a reset.
  private static let statuses = """
      - { event: status logining, from: \(all), to: logining }
      - { event: status noSignal, from: \(all), when: rightSince > now, to: away, set: { rightSince: "\(unknown)" } }
      - { event: status noSignal, from: \(all), to: away }
      - { event: status registering, from: \(all), to: away, set: &erased { isKnown: "true", commands: "[]", shorter: "[]", times: "[]",
          last: "{'number': \(none), 'event': '', 'tag': '', 'time': now}" } }
      - { event: status reset, from: \(all), to: away, set: *erased }
      - { event: status nosetting, from: logining, when: rightSince > now + duration('1h'), to: unlocked, set: &right { rightSince: now } }
      - { event: status nosetting, from: \(all), to: unlocked }
      - { event: status locked, from: logining, when: rightSince > now + duration('1h'), to: locked, set: *right }
      - { event: status locked, from: \(all), to: locked }
      - { event: status unlocked, from: logining, when: rightSince > now + duration('1h'), to: unlocked, set: *right }
      - { event: status unlocked, from: \(all), to: unlocked }
      - { event: status moved, from: logining, when: rightSince > now + duration('1h'), to: unlocked, set: *right }
      - { event: status moved, from: \(all), to: unlocked }
    """

  /// The client sets a wrong clock at once. Ten seconds later the clock is right, unless the lock refuses the time or the
  /// link ends before.
  private static let clock = """
      - event: reading time
        from: \(all)
        when: "rightSince <= now && (value - now > \(tolerance("60", at: "now")) || now - value > \(tolerance("60", at: "now")))"
        to: the clock was set and is wrong again
      - { event: reading time, from: \(all), to: =, set: { rightSince: now + duration('10s') } }
      - { event: reading refused, from: \(all), to: =, set: { rightSince: "\(unknown)" } }
      - { event: tampered, from: logining, to: away, set: { rightSince: "\(unknown)" } }
      - { event: tampered, from: [locked, unlocked], to: =, set: { rightSince: "\(unknown)" } }
      - { event: fault clock, from: logining, to: away, set: { rightSince: "\(unknown)" } }
      - { event: fault clock, from: [away, locked, unlocked], to: =, set: { rightSince: "\(unknown)" } }
      - { event: fault no-power, from: logining, to: away, set: { rightSince: "\(unknown)" } }
      - { event: fault no-power, from: [away, locked, unlocked], to: =, set: { rightSince: "\(unknown)" } }
      - { event: fault power-cycle, from: logining, to: away, set: { rightSince: "\(unknown)" } }
      - { event: fault power-cycle, from: [away, locked, unlocked], to: =, set: { rightSince: "\(unknown)" } }
    """

  private static let history = {
    // The place of the command in the list, or the number of commands if there is none.
    func index(_ list: String, _ item: String) -> String { "\(list).append(\(item)).indexOf(\(item))" }
    let (exact, any) = ("event + ' ' + tag", "event + ' ?'")
    let place =
      "min(min(\(index("commands", exact)), \(index("shorter", exact))), \(index("commands", any)))"
    let isCommand = "(event == 'lock' || event == 'unlock' || event == 'autolock updated')"
    let isMissing = "isKnown && \(isCommand) && \(place) == commands.size()"
    // Which of two commands left the record is not known if both may have, and one may have left none.
    let isOnly =
      "!commands.drop(\(place) + 1).contains(\(exact)) && !commands.drop(\(place) + 1).contains(\(any))"
      + " && !shorter.drop(\(place) + 1).contains(\(exact))"
    let isTimed =
      "\(isCommand) && isKnown && rightSince <= now && times.at(\(place)) >= rightSince && \(isOnly)"
    let late = tolerance("15", at: "times.at(\(place))")
    let others = ["mutate", "reflect", "write", "inject", "request"].map { fault in
      """
        - event: fault \(fault)
          from: logining
          to: away
          set: { isKnown: "false", doubt: now, rightSince: "\(unknown)" }
        - event: fault \(fault)
          from: [away, locked, unlocked]
          to: =
          set: { isKnown: "false", doubt: now, rightSince: "\(unknown)" }
      """
    }
    return others.joined(separator: "\n") + "\n" + """
        - event: reading record
          from: \(all)
          when: "number < last.number"
          to: the numbers of records do not ascend
        - event: reading record
          from: \(all)
          when: "number == last.number && (event != last.event || tag != last.tag || time != last.time)"
          to: the numbers of records do not ascend
        - event: reading record
          from: \(all)
          when: "number == last.number"
          to: =
        - event: reading record
          from: \(all)
          when: "\(isMissing) && event != 'autolock updated' && tag == ''"
          to: the history shows a command without its tag
        - event: reading record
          from: \(all)
          when: "\(isMissing)"
          to: the history shows a command that was not given, was recorded before, or follows a later one
        - event: reading record
          from: \(all)
          when: "\(isTimed) && (time - times.at(\(place)) > \(late) || times.at(\(place)) - time > \(late))"
          to: a record has another time than the clock of the lock
        - event: reading record
          from: \(all)
          when: "isKnown && \(isCommand)"
          to: =
          set:
            last: &record "{'number': number, 'event': event, 'tag': tag, 'time': time}"
            commands: "commands.drop(\(place) + 1)"
            shorter: "shorter.drop(\(place) + 1)"
            times: "times.drop(\(place) + 1)"
        - { event: reading record, from: \(all), to: =, set: { last: *record } }
        - event: reading history
          from: \(all)
          when: "value == 'empty' && now - doubt > duration('10s') && (times.size() == 0 || now - times.last() > duration('10s'))"
          to: =
          set: { isKnown: "true", commands: "[]", shorter: "[]", times: "[]" }
        - event: reading history
          from: \(all)
          when: "value == 'empty' && now - doubt > duration('10s')"
          to: =
          set: { isKnown: "true" }
      """
  }()
}
