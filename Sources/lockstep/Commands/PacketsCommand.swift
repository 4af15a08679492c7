import LockFiles
import System
import CommandLine
import Devices
import Bench
import Basics
import Journal
import Bluetooth

extension Command {
  static var packets: Command {
    Command(
      "packets", "Decodes a capture, from HCI down to the lock's commands.",
      discussion: """
        FILE is a btsnoop file with HCI packets, with or without H4: the capture of a run, one of its packets/*.btsnoop, or a
        capture of another program. Each line shows one packet with its highest decoded layer; --verbose shows all layers and
        the bytes. An incomplete capture is decoded as far as possible.

        \(CaptureReader.help)

        """,
      examples: [
        Example(
          "lockstep packets Reports/runs/2026-11-20T22-38-51-run/capture.btsnoop --key front-door.yaml",
          "What a lock and its client said in a run.")
      ],
      options: [
        .value(
          "key", \.key, "FILE", "The file of the lock whose messages are read, as for lock:FILE.",
          example: "front-door.yaml", as: .file),
        .flag("verbose", \.isVerbose, "Prints all layers of each packet, and its bytes.", short: "v"),
        .format(\.format),
      ],
      operands: .init(placeholder: "FILE", summary: "The capture.", count: 1...1, path: \.files),
      defaults: PacketsArguments(), perform: PacketsArguments.perform)
  }
}

private struct PacketsArguments {
  var files: [String] = []
  var key: String?
  var isVerbose = false
  var format = OutputFormat.human

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let path = files[0]
    var decoder = try makeReader()
    var reader = try open(path)
    var text: PacketsText?
    do throws(DecodeError) {
      while let record = try reader.next() {
        let known = text ?? PacketsText(zero: record.time)
        text = known
        show(decoder.decode(record), known, console)
      }
    } catch {
      show(decoder.finish(), text, console)
      console.say("lockstep: \(path): not btsnoop any more, \(error)")
      return .usage
    }
    show(decoder.finish(), text, console)
    if let tear = reader.tear {
      console.say("lockstep: \(path): the capture ends in the middle of a packet, \(tear)")
    }
    return .agree
  }

  private func makeReader() throws(UsageError) -> CaptureReader {
    guard let key else { return CaptureReader() }
    let reader = try checked("--key: ") { try CaptureReader.reading(with: LockFile(reading: key)) }
    guard let reader else {
      throw UsageError("--key: the lock of \(key) has no owner, and no key")
    }
    return reader
  }

  private func open(_ path: String) throws(UsageError) -> BTSnoopReader {
    let bytes = try namedFile(path)
    return try checked("\(path): this is no capture that can be read, ") { try BTSnoopReader(bytes) }
  }

  private func show(_ entries: [CaptureEntry], _ text: PacketsText?, _ console: Console) {
    guard let text, !entries.isEmpty else { return }
    let lines = entries.map { entry in
      switch format {
      case .json: text.json(entry).line
      case .human: isVerbose ? text.lines(entry) : text.line(entry)
      }
    }
    console.print(lines.joined(separator: "\n"))
  }
}
