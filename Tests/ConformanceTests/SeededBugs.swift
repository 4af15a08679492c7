extension SeededBug {
  /// Bugs of many shapes for `sesame-table`.
  ///
  /// None of them has been a model for how tests are generated or shrunk.
  static let all: [SeededBug] = [
    counting("the third reset", to: 3, "reset"),
    counting("the sixth lock since the start", to: 6, "lock"),
    SeededBug(name: "three toggles in a session, then leaving", memory: [0]) { memory, step in
      if step.isRefused { return memory }
      return step.event == "loginDone" ? [0] : [min(memory[0] + (step.event == "toggle" ? 1 : 0), 3)]
    } strikes: { memory, event, _ in
      memory[0] == 3 && event == "disconnect"
    },
    SeededBug(name: "exactly three logins left in a row", memory: [0]) { memory, step in
      if step.isRefused { return memory }
      if step.event == "loginDone" { return [0] }
      return [min(memory[0] + (step.event == "disconnect" && step.before == "logining" ? 1 : 0), 4)]
    } strikes: { memory, event, _ in
      memory[0] == 3 && event == "loginDone"
    },
    SeededBug(name: "a lock refused while logging in, then lock and unlock", memory: [0, 0]) { memory, step in
      if step.isRefused {
        return [step.event == "lock" && step.before == "logining" ? 1 : memory[0], memory[1]]
      }
      return [step.event == "disconnect" ? 0 : memory[0], step.event == "lock" ? 1 : 0]
    } strikes: { memory, event, _ in
      memory == [1, 1] && event == "unlock"
    },
    // Memory: the first commands of the two sessions before, then of this one: 0 none, 1 lock, 2 another.
    SeededBug(name: "first command lock, two sessions later toggle", memory: [2, 2, 2]) { memory, step in
      if step.isRefused { return memory }
      switch step.event {
      case "loginDone": return [memory[1], memory[2], 0]
      case "lock": return memory[2] == 0 ? [memory[0], memory[1], 1] : memory
      case "unlock", "toggle": return memory[2] == 0 ? [memory[0], memory[1], 2] : memory
      default: return memory
      }
    } strikes: { memory, event, _ in
      memory == [1, 0, 0] && event == "toggle"
    },
    SeededBug(name: "two logins in a row find it moved, then lock and leaving", memory: [0, 0]) {
      memory, step in
      if step.isRefused { return memory }
      let isLock = step.event == "lock" ? 1 : 0
      guard step.event == "loginDone" else { return [memory[0], isLock] }
      return [step.after == "moved" ? min(memory[0] + 1, 2) : 0, isLock]
    } strikes: { memory, event, _ in
      memory == [2, 1] && event == "disconnect"
    },
    SeededBug(name: "registered, then lock, unlock, lock and leaving", memory: [0, 0]) { memory, step in
      if step.isRefused { return memory }
      let expected = ["lock", "unlock", "lock"]
      let isNext = memory[1] < 3 && step.event == expected[memory[1]]
      return [
        step.event == "registered" ? 1 : memory[0], isNext ? memory[1] + 1 : step.event == "lock" ? 1 : 0,
      ]
    } strikes: { memory, event, _ in
      memory == [1, 3] && event == "disconnect"
    },
    SeededBug(name: "toggled when moved and not locked since, then reset", memory: [0]) { memory, step in
      if step.isRefused { return memory }
      if step.event == "toggle", step.before == "moved" { return [1] }
      return step.event == "lock" ? [0] : memory
    } strikes: { memory, event, _ in
      memory[0] == 1 && event == "reset"
    },
    SeededBug(name: "refused twice after a reset, then coming back", memory: [0]) { memory, step in
      if step.isRefused { return step.before == "reset" ? [min(memory[0] + 1, 2)] : memory }
      return step.event == "disconnect" ? memory : [0]
    } strikes: { memory, event, _ in
      memory[0] == 2 && event == "closeTo"
    },
    SeededBug(name: "two toggles and a login that finds no setting, then configure", memory: [0, 0]) {
      memory, step in
      if step.isRefused { return memory }
      let isUnset = step.event == "loginDone" && step.after == "nosetting"
      return [min(memory[0] + (step.event == "toggle" ? 1 : 0), 2), isUnset ? 1 : memory[1]]
    } strikes: { memory, event, _ in
      memory == [2, 1] && event == "configure"
    },
    SeededBug(name: "an even number of logins left in a row, then unlock first", memory: [0, 0]) {
      memory, step in
      if step.isRefused { return memory }
      switch (step.event, step.before) {
      case ("disconnect", "logining"): return [memory[0] % 2 == 1 ? 2 : memory[0] + 1, 0]
      case ("loginDone", _): return [memory[0], memory[0] == 2 ? 1 : 0]
      case ("disconnect", _): return [0, 0]
      default: return [memory[0], 0]
      }
    } strikes: { memory, event, _ in
      memory[1] == 1 && event == "unlock"
    },
  ]

  private static func counting(_ name: String, to count: Int, _ event: String) -> SeededBug {
    SeededBug(name: name, memory: [0]) { memory, step in
      !step.isRefused && step.event == event ? [memory[0] + 1] : memory
    } strikes: { memory, happens, _ in
      memory[0] == count - 1 && happens == event
    }
  }
}
