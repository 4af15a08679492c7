import System
import Conformance
import Glibc
import Lab
import Basics

/// A process beside the run that gives back what the run holds at a lab, should the run die.
///
/// It hears of the run's death by the end of its input, which the system closes however a process ends. It has a session
/// of its own: neither what is typed at the run's terminal nor what ends the run's process group reaches it. What ends all
/// processes of a job, as a service manager or a cluster may, ends it too; then the note that the run left is found by the
/// next one.
final class Watchdog {
  private let client: LabgridClient
  private let child: ChildProcess
  private let note: TenancyNote

  /// Starts it, before there is anything to give back.
  init(_ client: LabgridClient) throws(LabFault) {
    guard let program = Host.program else {
      throw LabFault(.noDevice, "the system does not tell which program this is")
    }
    self.client = client
    note = try TenancyNote.make(client)
    do {
      child = try ChildProcess(
        program: program,
        [
          LabWatchdog.command, client.address.description, client.owner.host, client.owner.user,
          client.program,
        ], without: Secrecy.withheldVariables, inSession: true)
      child.isDriven = false
    } catch {
      note.remove()
      throw LabFault(error)
    }
  }

  /// Gives back what is held, and sends the watchdog home; where the lab does not take it back, the watchdog goes on.
  ///
  /// - Returns: what there is to say of it.
  func end() -> String? {
    do throws(LabgridFault) {
      try client.giveBack()
    } catch {
      if case .absent = error {
        // Without the client nothing was ever held.
      } else {
        let fault = client.trouble(error, "the place is not given back yet")
        LabWatchdog.leave(child)
        return
          "lockstep: \(fault.detail)\n  a process that stays behind goes on trying for \(LabWatchdog.patience)"
      }
    }
    note.remove()
    child.send(Array("done\n".utf8))
    child.closeInput()
    child.stop(grace: .seconds(2))
    return nil
  }

  /// Gives back what runs on this machine left at a lab when they were killed, and their watchdogs with them.
  static func giveBackRemains(at address: LabAddress, program: String, say: (String) -> Void) {
    for owner in TenancyNote.owners {
      guard let (note, place) = TenancyNote.left(by: owner), place == address else { continue }
      do throws(LabgridFault) {
        let count = try LabgridClient(address, owner: owner, program: program).giveBack()
        note.remove()
        if count > 0 { say("lockstep: gave back what a run that was killed held at the lab, as \(owner)") }
      } catch {
        // Whether the lab can be reached at all is about to be seen.
        return
      }
    }
  }
}

/// The work of the process that stands beside a run, under the name of a command that is for nobody else.
public enum LabWatchdog {
  /// The name of the command.
  public static let command = "lab-watchdog"

  /// For how long it tries when the coordinator is away.
  static let patience = Interval.seconds(600)
  /// For how long it looks: what the run asked for as it died may still come about.
  private static let lingering = Interval.seconds(20)

  /// Waits for the end of the run, and gives back what it held unless it did so itself.
  ///
  /// - Parameter words: the coordinator, host and user of who holds the place, and the client program.
  /// - Returns: whether all was given back; `nil` when the words are not understood.
  public static func perform(_ words: [String]) -> Bool? {
    guard words.count == 4, let address = LabAddress(words[0]) else { return nil }
    EndingSignals.ignore()
    // Who started the run may wait for the end of files that it inherited; it is not to wait for us.
    for name in folderEntries("/proc/self/fd") ?? [] {
      if let number = Int32(name), number > STDERR_FILENO { close(number) }
    }
    let owner = LabOwner(host: words[1], user: words[2])
    if EndOfInput.firstLine() == "done" { return true }
    return giveBack(LabgridClient(address, owner: owner, program: words[3]))
  }

  private static func giveBack(_ client: LabgridClient) -> Bool {
    let begin = MonotonicClock.now
    var note: TenancyNote?
    var isDone = false
    var pause = Interval.milliseconds(200)
    while MonotonicClock.now - begin < (isDone ? lingering : patience) {
      // Without a note there is nothing left: another run has seen to it.
      guard TenancyNote.isThere(for: client.owner) else { return true }
      // While the note is locked, the run is still going or somebody else sees to it.
      if note == nil { note = TenancyNote.left(by: client.owner)?.note }
      if note != nil || MonotonicClock.now - begin > lingering {
        isDone = (try? client.giveBack()) != nil
      }
      _ = poll(nil, 0, Int32(clamping: pause.nanoseconds / 1_000_000))
      pause = min(pause + pause, .seconds(15))
    }
    if isDone { note?.remove() }
    return isDone
  }

  /// Lets the process be when this one ends.
  static func leave(_ child: ChildProcess) { _ = unsafe Unmanaged.passRetained(child) }
}
