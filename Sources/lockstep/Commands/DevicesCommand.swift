import LockFiles
import CommandLine
import Devices
import Transports
import Bench
import Journal
import System
import Conformance
import Basics

extension Command {
  static var devices: Command {
    Command(
      "devices", "Shows the dongles and locks of a bench, and restores those that are out of use.",
      discussion: """
        Shows for each device whether it is available, held (by which process, and since when) or out of use (why, and since
        when). For a lock it also shows the number of its movements, whether it is jammed, worn (a budget of the bench is used
        up) or low (its last known battery level), and its cases in quarantine. No device is touched.

        A device that has failed its health check twice ('lockstep run --check-health') is out of use until

          lockstep devices restore NAME

        NAME is a lock or a dongle of the bench, or its identity. This also deletes the records of a jam and of the battery of a
        lock. If the clock of this computer was once set to a later day, runs no longer trust that day; 'lockstep devices
        restore calendar' deletes it.

        """,
      examples: [
        Example("lockstep devices", "The dongles and locks of the bench in this folder, and their state."),
        Example("lockstep devices restore front-door", "Restores a lock that was out of use."),
      ],
      options: [
        .bench(\.bench),
        .format(\.format, "The output format; json prints one object per line."), .color(\.color),
        .quiet(\.isQuiet, "Prints only devices that are not available."),
      ],
      operands: .init(
        placeholder: "restore NAME", summary: "Restores these devices. Without it, all devices are shown.",
        count: 0...2, as: .choice(["restore"]), .text, path: \.words), defaults: DevicesArguments(),
      perform: DevicesArguments.perform)
  }
}

private struct DevicesArguments {
  var words: [String] = []
  var bench: String?
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var isQuiet = false

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let path = bench ?? BenchFile.usual
    let file = try path.map { path throws(UsageError) in try BenchFile(reading: path) }
    guard words.isEmpty else { return try restore(file, console) }
    guard let file else {
      throw UsageError("there is no bench.yaml here: name the bench with --bench FILE")
    }
    let today = Calendar.today
    let state = try BenchState(file, today: today)
    let devices = state.devices.filter { !isQuiet || $0.use != .available }
    switch format {
    case .json:
      for device in devices { console.print(device.json) }
      for item in state.quarantine(of: nil, today) { console.print(["quarantine": item.json]) }
    case .human:
      let text = DevicesText(console.painter(color))
      console.print(text.text(of: devices, state.quarantine(of: nil, today), bench: file))
    }
    // An unknown state of a device is not a success.
    let isKnown = state.devices.allSatisfy { if case .unknown = $0.use { false } else { true } }
    return isKnown ? .agree : .labFault
  }

  private func restore(_ file: BenchFile?, _ console: Console) throws(UsageError) -> CommandStatus {
    guard words[0] == "restore" else {
      throw UsageError("unknown operand '\(words[0])': expected 'restore NAME'")
    }
    guard words.count == 2 else { throw UsageError("missing NAME: restore NAME, or restore calendar") }
    let name = words[1]
    let book: HealthBook
    do {
      book = try HealthStore.book()
      if name == "calendar" {
        try SeenCalendar.forget()
        console.print("the recorded day was deleted")
        return .agree
      }
    } catch {
      console.say("lockstep: \(error.detail)")
      return .labFault
    }
    let identity = try target(name, file, book)
    do {
      let wasOut = try HealthStore.update { book in
        // A dongle that is not plugged in is found by its recorded name.
        let known = book.records.filter { $0.identity == identity || $0.health.name == name }
        let wasOut = known.contains { $0.health.outOfUse != nil || !$0.health.failures.isEmpty }
        for record in known { book.restore(record.identity) }
        return wasOut
      }
      let limits = file?.inventory.lock(name)?.limits ?? .usual
      var forgets = false
      if let ledger = try CycleCounter.known(of: identity)?.ledger {
        forgets = ledger.isBlocked(under: limits, at: BenchClock.now.uptime)
        try CycleCounter(of: identity).noteServed()
      }
      try Recovery.restore(identity)
      console.print(
        "\(name) " + (wasOut || forgets ? "is back in use" : "was not out of use"))
      return .agree
    } catch {
      console.say("lockstep: \(error.detail)")
      return .labFault
    }
  }

  /// Returns the identity of a device with this name.
  private func target(_ name: String, _ file: BenchFile?, _ book: HealthBook) throws(UsageError) -> String {
    if let file, let lock = file.inventory.lock(name) {
      guard case .file(let path) = lock.source else {
        return BenchLock(bench: file, lock: lock).emulatedIdentity
      }
      return try checked { try LockFile(reading: path) }.identity
    }
    if let file, let dongle = file.inventory.dongle(name) { return try file.choice(dongle).spec.identity }
    // A lock that has moved and never failed.
    if (try? CycleCounter.known(of: name)) ?? nil != nil { return name }
    guard let record = book.records.first(where: { $0.identity == name || $0.health.name == name }) else {
      let names = (file?.inventory.locks.map(\.name) ?? []) + (file?.inventory.dongles.map(\.name) ?? [])
      let hint = nearestName(to: name, in: names).map { ": did you mean '\($0)'?" } ?? ""
      throw UsageError("unknown device '\(name)'\(hint)")
    }
    return record.identity
  }
}
