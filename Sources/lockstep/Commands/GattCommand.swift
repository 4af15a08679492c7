import Basics
import Bench
public import CommandLine
import Devices
import Journal
import Reporting
import System
import Transports

extension Command {
  static var gatt: Command {
    Command(
      "gatt", "Lists the services of a device; reads, writes and subscribes.",
      discussion: """
        TARGET is an address as 'lockstep scan --all' prints it, a lock file, or the name of a lock of a bench. Without an
        operation, all services of the device are listed. Operations run in the order in which they are given; if the device
        refuses one, the command exits with 1. A UUID has 4 or 32 digits, or is an assigned name such as device-name; a handle
        begins with 0x. With --interactive, operations are read from standard input, one per line, until its end or 'quit';
        'help' lists them.

        No pairing takes place. The protocol of a lock is not used: 'lockstep run' drives locks, and no movement is counted for
        what is written here.

        """,
      examples: [
        Example("lockstep gatt c7:e6:da:90:f5:f9 --transport usb:0", "All services of a device."),
        Example(
          "lockstep gatt front-door.yaml --transport usb:0 --subscribe 16860003-a5ae-9856-b6d3-dbb4c676993e",
          "The notifications of a lock to any client, for ten seconds."),
        Example(
          "lockstep gatt c7:e6:da:90:f5:f9 --transport usb:0 --subscribe fff2 --write fff1=0102 --duration 2s",
          "A request and its response."),
      ],
      options: [
        .transport(\.transport),
        .bench(\.bench, "The bench file with the lock and the dongle. By default the usual one."),
        .adding("read", \.operations, "UUID|HANDLE", "Reads a value.", example: "device-name") { .read($0) },
        .adding(
          "write", \.operations, "UUID|HANDLE=HEX",
          "Writes a value, with response if the characteristic supports it, else without.",
          example: "fff1=0102"
        ) { .write($0, isCommand: false) },
        .adding(
          "write-command", \.operations, "UUID|HANDLE=HEX", "Writes a value without response.",
          example: "0x0012=0102"
        ) { .write($0, isCommand: true) },
        .adding(
          "subscribe", \.operations, "UUID|HANDLE",
          "Shows notifications, or indications if the characteristic supports only these.", example: "fff2"
        ) { .subscribe($0) },
        .flag("interactive", \.isInteractive, "Reads operations from standard input.", short: "i"),
        .flag("values", \.withValues, "Shows the values of all readable characteristics."),
        .value(
          "duration", \.duration, "TIME", "How long to listen after the last operation. Default: 10s.",
          example: "1min"),
        .value(
          "timeout", \.timeout, "TIME", "How long to search for the device. Default: 10s.", example: "30s"),
        .capture(\.capture), .format(\.format, "The output format; json prints one object per line."),
        .quiet(\.isQuiet, "Prints only the results and failures."),
      ],
      operands: .init(
        placeholder: "TARGET", summary: "The device: an address, a lock file or a lock of a bench.",
        count: 1...1, as: .file, path: \.target), defaults: GattArguments(), perform: GattArguments.perform)
  }
}

private struct GattArguments {
  var target: [String] = []
  var transport: String?
  var bench: String?
  var operations: [GATTOperation] = []
  var isInteractive = false
  var withValues = false
  var duration = Interval.seconds(10)
  var timeout = Interval.seconds(10)
  var capture: String?
  var format = OutputFormat.human
  var isQuiet = false

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    if withValues, isInteractive || !operations.isEmpty {
      throw UsageError("'--values' is for the list of everything, which operations take the place of")
    }
    if let capture { try OutputCheck.check("--capture", .capture, at: capture) }
    let target = try GATTTarget(naming: target[0], transport: transport, bench: bench)
    let list = operations.isEmpty && !isInteractive ? [GATTOperation.services(withValues: withValues)] : []
    let script = GATTExplorer.Script(
      to: target.device, operations + list, isInteractive: isInteractive, timeout: timeout, duration: duration
    )
    Interruption.listen()
    let prompts = isInteractive && format == .human && console.isTerminal
    let view = GattView(console: console, format: format, isQuiet: isQuiet, hasPrompt: prompts)
    let input = isInteractive ? InputLines() : nil
    let ending = GATTVisit.run(script, to: target, capture: capture, input: input, showing: view)
    if prompts { console.draw("\r\u{1B}[K") }
    if let words = ending.words { console.say("lockstep: \(words)") }
    return ending.status
  }
}

/// Prints the results of a GATT session.
private struct GattView: GATTAudience {
  let console: Console, format: OutputFormat, isQuiet: Bool, hasPrompt: Bool

  func show(_ finding: GATTFinding) {
    if finding.audience == .progress, isQuiet { return }
    if hasPrompt { console.draw("\r\u{1B}[K") }
    if finding.audience == .problem { console.say("lockstep: " + finding.line) }
    switch (format, finding.audience) {
    case (.json, _): console.print(finding.json)
    case (.human, .data): console.print(finding.line)
    case (.human, .progress): console.say(finding.line)
    case (.human, .problem): break
    }
  }

  var isGone: Bool { console.isBroken }
  func awaitLine() { if hasPrompt { console.draw("", "gatt> ") } }
}

extension AttributeName: ArgumentValue {
  static var form: String { "a UUID such as 2a00, a handle such as 0x0003 or an assigned name" }

  init?(argument: String) { try? self.init(text: argument) }
}

extension AttributeWrite: ArgumentValue {
  static var form: String { "UUID=HEX or HANDLE=HEX, two digits for each of at most \(limit) bytes" }

  init?(argument: String) { try? self.init(text: argument) }
}
