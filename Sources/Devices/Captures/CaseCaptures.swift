import Links
import Programs
import Basics
public import Harness
public import Journal
public import System
import Bluetooth
import Conformance

/// Captures the link of each case in memory, and saves the capture of a failed case in the folder of the run:
/// `packets/CASE.btsnoop`, and decoded as `packets/CASE.jsonl`.
///
/// Session keys are never saved. The secret that an OS2 lock sends before a registration, from which all keys are
/// derived, is saved as zeros.
public final class CaseCaptures {
  private let folder: String?
  fileprivate let notes = LinkNotes()
  /// Whether a case with a device is in progress.
  private var isBegun = false

  /// Creates a store that saves files in the folder of a run, if there is one.
  public init(in folder: String? = nil) {
    self.folder = folder
  }

  /// Starts a case.
  func begin(isInRealTime: Bool) {
    notes.packets.clock = isInRealTime ? { BTSnoop.unixEpoch + WallClock.microseconds } : nil
    notes.startOver()
    isBegun = true
  }

  /// Returns the device; its link is captured if the device supports that.
  func recorded(_ device: any DeviceUnderTest) -> any DeviceUnderTest {
    guard var recorded = device as? any DeviceUnderTest & RecordedDevice else { return device }
    recorded.record(to: notes)
    return recorded
  }

  /// Saves the capture of a case.
  public func save(_ test: Case) throws(FileFault) -> [Record.Attachment] { try packets?.save(test) ?? [] }

  /// Saves the capture of the last case in one file.
  public func save(to path: String) throws(FileFault) {
    try WholeFile.replacePrivate(path, with: capture(of: decoded))
  }

  /// Ends a case.
  public func end() { isBegun = false }

  /// The packets of the link, as they are saved.
  fileprivate var packets: CasePackets? {
    guard let folder, isBegun, !notes.packets.isEmpty else { return nil }
    let entries = decoded
    return CasePackets(
      folder: folder, capture: capture(of: entries), entries: entries,
      text: PacketsText(zero: notes.packets.epoch))
  }

  /// The decoded packets: from the driver if it explains them, by the family of the lock, or else without a key.
  private var decoded: [CaptureEntry] {
    if let explained = notes.packets.explained { return explained }
    if let family = notes.family { return family.decoded() }
    var reader = CaptureReader()
    return notes.packets.records.flatMap { reader.decode($0) } + reader.finish()
  }

  /// Returns the capture without secrets.
  private func capture(of entries: [CaptureEntry]) -> [UInt8] {
    var bytes = BTSnoop.header
    let shown = entries.filter { $0.event == nil }
    for (entry, record) in zip(shown, notes.packets.records) {
      var record = record
      record.packet = entry.shownBytes
      record.encode(into: &bytes)
    }
    return bytes
  }
}

/// Captures the link to the device of a campaign, but only in selected attempts.
final class CaptureWatch: LinkWatch {
  let captures: CaseCaptures
  private let isInRealTime: Bool

  /// - Parameter folder: The folder of the run.
  init(in folder: String, isInRealTime: Bool) {
    captures = CaseCaptures(in: folder)
    self.isInRealTime = isInRealTime
    end()
  }

  func begin() {
    captures.notes.packets.isPaused = false
    captures.begin(isInRealTime: isInRealTime)
  }

  var taken: (any LinkPackets)? { captures.packets }

  func end() {
    captures.end()
    captures.notes.packets.isPaused = true
  }
}

/// The packets of a case.
private struct CasePackets: LinkPackets {
  let folder: String
  let capture: [UInt8]
  let entries: [CaptureEntry]
  let text: PacketsText

  func save(_ test: Case) throws(FileFault) -> [Record.Attachment] {
    let attempt = test.attempt > 1 ? "-\(test.attempt)" : ""
    let stem = "packets/\(test.slug)-\(fingerprint(test.id))\(attempt)"
    try makeFolder(folder + "/packets")
    try WholeFile.replacePrivate("\(folder)/\(stem).btsnoop", with: capture)
    let lines = entries.map { text.json($0).line + "\n" }.joined()
    try WholeFile.replacePrivate("\(folder)/\(stem).jsonl", with: Array(lines.utf8))
    return [Record.Attachment("capture", stem + ".btsnoop"), Record.Attachment("packets", stem + ".jsonl")]
  }
}

extension Devices {
  /// Runs a case while capturing its link and the output of its programs, and saves both if model and device disagree.
  ///
  /// - Parameters:
  ///   - folder: The folder of the run.
  ///   - listener: Receives the last lines of the programs' output.
  ///   - say: Receives a message about each failure to save.
  public func recording(
    _ test: Case, in folder: String, _ listener: any JournalListener, _ body: () -> Outcome,
    orSay say: (String) -> Void
  ) -> Outcome {
    let own = CaseCaptures(in: folder)
    captures = own
    defer { captures = nil }
    var outcome = body()
    guard outcome.verdict.word.isFailed else { return outcome }
    do throws(FileFault) { outcome.attachments += try own.save(test) } catch {
      say("the packets of \(test.id) are not saved: \(error)")
    }
    attachOutput(to: &outcome, listener)
    return outcome
  }

  /// Attaches the last lines of the programs' output as diagnostics, and the path of the complete output.
  public func attachOutput(to outcome: inout Outcome, _ listener: any JournalListener) {
    guard let output, !output.isEmpty else { return }
    for line in output.lastLines { listener.diagnostic("the program said: \(line)", at: outcome.time) }
    outcome.attachments.append(.init("log", ProgramOutput.name))
  }
}
