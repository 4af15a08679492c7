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
      "devices", "Shows the dongles and locks of a bench, and puts back in use what somebody has seen to.",
      discussion: """
        Of each it says whether it is free, held (by whom and since when) or out of use (why and since when); of a lock also
        how often its motor has moved, whether it is worn (a budget of the bench is used up) or low (its battery, as it was
        last seen), and what of it is in quarantine. Nothing is touched.

        What failed its health check twice, see 'lockstep run --check-health', is out of use until

          lockstep devices restore NAME

        NAME is a lock or a dongle of the bench, or what it is known by. What is held against a lock because of a jam or
        its battery is forgotten too.

        """,
      examples: [
        Example("lockstep devices", "What the bench of this folder has, and how it is."),
        Example("lockstep devices restore front-door", "Puts a lock back in use."),
      ],
      options: [
        .bench(\.bench),
        .format(\.format, "How devices are printed; json is one object a line."), .color(\.color),
        .quiet(\.isQuiet, "Prints what is not free only."),
      ],
      operands: .init(
        placeholder: "restore NAME", summary: "What is to be put back in use; without it all is shown.",
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
      throw UsageError("there is no bench.yaml here: say with --bench FILE which bench is meant")
    }
    let today = Calendar.today
    let state = try BenchState(file, today: today)
    let devices = state.devices.filter { !isQuiet || $0.use != .free }
    switch format {
    case .json:
      for device in devices { console.print(device.json) }
      for item in state.quarantine(of: nil, today) { console.print(["quarantine": item.json]) }
    case .human:
      let text = DevicesText(console.painter(color))
      console.print(text.text(of: devices, state.quarantine(of: nil, today), bench: file))
    }
    return .agree
  }

  private func restore(_ file: BenchFile?, _ console: Console) throws(UsageError) -> CommandStatus {
    guard words[0] == "restore" else {
      throw UsageError("unknown operand '\(words[0])': to put something back in use it is 'restore NAME'")
    }
    guard words.count == 2 else { throw UsageError("missing NAME: restore NAME") }
    let name = words[1]
    let book: HealthBook
    do {
      book = try HealthFolder.book()
    } catch {
      console.say("lockstep: \(error.detail)")
      return .labFault
    }
    let (identity, odometer) = try target(name, file, book)
    do {
      let wasOut = try HealthFolder.update { book in
        // A dongle that is not plugged in goes by the name it had, and a record that was damaged by that of its file.
        let known = book.records.filter {
          Lease.name($0.identity) == Lease.name(identity) || $0.health.name == name
        }
        let wasOut = known.contains { $0.health.outOfUse != nil || !$0.health.failures.isEmpty }
        for record in known { book.restore(record.identity) }
        return wasOut
      }
      if let odometer { try Odometer(opening: odometer).noteServed() } else { try Recovery.restore(identity) }
      console.print("\(name) is " + (wasOut ? "back in use" : "in use; there was nothing against it"))
      return .agree
    } catch {
      console.say("lockstep: \(error.detail)")
      return .labFault
    }
  }

  /// What a name stands for: what it is known by and, of a lock that was ever moved, its odometer.
  private func target(
    _ name: String, _ file: BenchFile?, _ book: HealthBook
  ) throws(UsageError) -> (identity: String, odometer: String?) {
    if let file, let lock = file.inventory.lock(name) {
      guard case .file(let path) = lock.source else {
        return (BenchLock(bench: file, lock: lock).emulatedIdentity, nil)
      }
      let lockFile = try checked { try LockFile(reading: path) }
      return (lockFile.identity, Odometer.path(of: lockFile).flatMap { Host.isFile($0) ? $0 : nil })
    }
    if let file, let dongle = file.inventory.dongle(name) {
      return (try file.choice(dongle).spec.identity, nil)
    }
    guard let record = book.records.first(where: { $0.identity == name || $0.health.name == name }) else {
      let names = (file?.inventory.locks.map(\.name) ?? []) + (file?.inventory.dongles.map(\.name) ?? [])
      let hint = nearestName(to: name, in: names).map { ": did you mean '\($0)'?" } ?? ""
      throw UsageError("nothing is known of '\(name)'\(hint)")
    }
    let odometer = StateFolder.path.map { $0 + "/odometers/\(Lease.name(record.identity)).log" }
    return (record.identity, odometer.flatMap { Host.isFile($0) ? $0 : nil })
  }
}
