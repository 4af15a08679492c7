public import Automata

extension MachineDefinition {
  /// A lock with a keypad, for two users: a machine that holds data.
  public static let keypad = machine(of: keypadFile, name: "keypad.yaml")

  /// Reads a file of ours.
  private static func machine(of file: String, name: String) -> MachineDefinition {
    do {
      return try MachineDefinition(yaml: Array(file.utf8), name: name)
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The file of the ``keypad``.
  public static let keypadFile = #"""
    machine: keypad
    summary: A lock with a keypad for two users, a duress code, a lock-out after three wrong tries, and a log.
    states: [locked, unlocked, lockedOut, firmware]
    variables:
      codes: { form: { map: [text, text], size: 2 }, first: "{'anna': '1234', 'bob': '2468'}" }
      tries: { form: { map: [text, { integer: [0, 3] }], size: 2 }, first: "{'anna': 0, 'bob': 0}" }
      number: { form: integer, first: 0 }
      log:
        form: { list: { record: { number: integer, user: text, event: text, time: { instant: 1 s } } }, size: 10 }
        first: "[]"
    readings:
      log: { list: { record: { number: integer, user: text, event: text, time: { instant: 1 s } } }, size: 10 }
    events:
      - enter: { arguments: { user: [anna, bob], code: text } }
      - lock
      - change: { arguments: { user: [anna, bob], old: text, new: text } }
      - delete: { arguments: { user: [anna, bob] } }
      - read
      - update
      - finish
      - reset
    starts:
      - { state: locked }
    transitions:
      - event: enter
        from: locked
        when: "code == '9119'"
        to: unlocked
        then: [alarm]
        set: &opened
          number: number + 1
          tries: tries.put(user, 0)
          log: "log.prepend({'number': number + 1, 'user': user, 'event': code == '9119' ? 'duress' : 'opened', 'time': now}).take(10)"
      - { event: enter, from: locked, when: "user in codes && codes[user] == code", to: unlocked, set: *opened }
      - event: enter
        from: locked
        when: tries[user] < 2
        to: "="
        then: [buzz]
        set: &refused
          number: number + 1
          tries: "tries.put(user, tries[user] < 2 ? tries[user] + 1 : 0)"
          log: "log.prepend({'number': number + 1, 'user': user, 'event': 'refused', 'time': now}).take(10)"
      - { event: enter, from: locked, to: lockedOut, set: *refused }
      - event: enter
        from: unlocked
        when: code == '9119' || user in codes && codes[user] == code
        to: unlocked
        then: [beep]
      - { event: enter, from: unlocked, to: "=", then: [buzz] }
      - { event: lock, from: unlocked, to: locked }
      - { from: unlocked, to: locked, after: 7 s }
      - { from: lockedOut, to: locked, after: 60 s }
      - event: change
        from: [locked, unlocked]
        when: user in codes && codes[user] == old && new.size() >= 4 && new.size() <= 6 && new != '9119'
        to: "="
        then: [done]
        set: { codes: "codes.put(user, new)" }
      - { event: change, from: [locked, unlocked], to: "=", then: [denied] }
      - { event: delete, from: unlocked, when: user in codes, to: "=", then: [done], set: { codes: codes.remove(user) } }
      - { event: delete, from: unlocked, to: "=", then: [denied] }
      - { event: read, from: [locked, unlocked, lockedOut], to: "=", then: [{ reading: log, is: log }] }
      - { event: update, from: locked, to: firmware }
      - { event: finish, from: firmware, to: locked }
      - event: reset
        from: [locked, unlocked, lockedOut, firmware]
        to: locked
        then: [done]
        set: { codes: "{'anna': '1234', 'bob': '2468'}", tries: "{'anna': 0, 'bob': 0}", log: "[]" }
    """#
}

extension MachineDefinition {
  /// The ``keypad`` behind a Bluetooth link: a machine of two regions.
  public static let keypadBLE = machine(of: keypadBLEFile, name: "keypad-ble.yaml")

  /// The file of the ``keypadBLE``.
  public static let keypadBLEFile = #"""
    machine: keypad-ble
    summary: A lock with a keypad for two users, behind a Bluetooth link. Its timers run on while the link is lost.
    variables:
      codes: { form: { map: [text, text], size: 2 }, first: "{'anna': '1234', 'bob': '2468'}" }
      tries: { form: { map: [text, { integer: [0, 3] }], size: 2 }, first: "{'anna': 0, 'bob': 0}" }
      number: { form: integer, first: 0 }
      log: { form: &log { list: { record: { number: integer, user: text, event: text, time: { instant: 1 s } } }, size: 10 }, first: "[]" }
    readings: { log: *log }
    events:
      - connect
      - disconnect
      - enter: { arguments: { user: [anna, bob], code: text } }
      - lock
      - change: { arguments: { user: [anna, bob], old: text, new: text } }
      - delete: { arguments: { user: [anna, bob] } }
      - read
      - update
      - finish
      - reset
    regions:
      link:
        states: [noSignal, connecting, { name: connected, transparent: true }]
        start: noSignal
        transitions:
          - { event: connect, from: noSignal, to: connecting }
          - { from: connecting, to: connected, not-before: 100 ms, within: 2 s }
          - { event: disconnect, from: [connecting, connected], to: noSignal }
      lock:
        states: [locked, unlocked, lockedOut, firmware]
        start: locked
        transitions:
          # The timers need no link.
          - { from: unlocked, to: locked, after: 7 s }
          - { from: lockedOut, to: locked, after: 60 s }
          # A code: the duress code, the user's, one of the first two wrong ones, or the third.
          - event: enter
            from: locked
            in: &near { link: connected }
            when: "code == '9119'"
            to: unlocked
            then: [alarm]
            set: &opened
              number: number + 1
              tries: tries.put(user, 0)
              log: "log.prepend({'number': number + 1, 'user': user, 'event': code == '9119' ? 'duress' : 'opened', 'time': now}).take(10)"
          - { event: enter, from: locked, in: *near, when: "user in codes && codes[user] == code", to: unlocked, set: *opened }
          - event: enter
            from: locked
            in: *near
            when: tries[user] < 2
            to: "="
            then: [buzz]
            set: &refused
              number: number + 1
              tries: "tries.put(user, tries[user] < 2 ? tries[user] + 1 : 0)"
              log: "log.prepend({'number': number + 1, 'user': user, 'event': 'refused', 'time': now}).take(10)"
          - { event: enter, from: locked, in: *near, to: lockedOut, set: *refused }
          # A right code in `unlocked` starts the 7 s again.
          - event: enter
            from: unlocked
            in: *near
            when: code == '9119' || user in codes && codes[user] == code
            to: unlocked
            then: [beep]
          - { event: enter, from: unlocked, in: *near, to: "=", then: [buzz] }
          - { event: lock, from: unlocked, in: *near, to: locked }
          - event: change
            from: [locked, unlocked]
            in: *near
            when: user in codes && codes[user] == old && new.size() >= 4 && new.size() <= 6 && new != '9119'
            to: "="
            then: [done]
            set: { codes: "codes.put(user, new)" }
          - { event: change, from: [locked, unlocked], in: *near, to: "=", then: [denied] }
          - { event: delete, from: unlocked, in: *near, when: user in codes, to: "=", then: [done], set: { codes: codes.remove(user) } }
          - { event: delete, from: unlocked, in: *near, to: "=", then: [denied] }
          - { event: read, from: [locked, unlocked, lockedOut], in: *near, to: "=", then: [{ reading: log, is: log }] }
          - { event: update, from: locked, in: *near, to: firmware }
          - { event: finish, from: firmware, in: *near, to: locked }
          - event: reset
            from: "*"
            in: *near
            to: locked
            then: [done]
            set: { codes: "{'anna': '1234', 'bob': '2468'}", tries: "{'anna': 0, 'bob': 0}", log: "[]" }
    """#
}
