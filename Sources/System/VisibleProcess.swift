import Basics
import Glibc

/// This program once more, as a person would call it: what it says goes where ours goes, and it reads nothing.
///
/// It is in a process group of its own: Ctrl-C reaches this process alone, which passes the first one on and ends it at
/// the second.
public enum VisibleProcess {
  /// How long one look waits for its end.
  private static let period = Interval.milliseconds(10)

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - words: its arguments.
  ///   - folder: where it is run.
  ///   - variables: what its environment has beside ours, as `NAME=VALUE`.
  /// - Throws: why it could not be started.
  public static func run(
    _ words: [String], in folder: String, adding variables: [String] = []
  ) throws(ProcessFault) -> Ending {
    guard let program = Host.program else {
      throw ProcessFault("the system does not tell which program this is")
    }
    EndedChildren.keep()
    let nothing = Kernel.open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { if nothing >= 0 { Kernel.close(nothing) } }
    var spawning = Spawning(program: program, words: Kernel.wordsForChildren + words, isOurs: true)
    spawning.added = variables
    spawning.folder = folder
    if nothing >= 0 { spawning.streams = [(nothing, STDIN_FILENO)] }
    do {
      let group = try spawning.start()
      RunningGroup.set(group)
      return waitForEnd(of: group)
    } catch {
      throw ProcessFault("the program could not be started: \(errorText(error.code))")
    }
  }

  private static func waitForEnd(of group: pid_t) -> Ending {
    var isAsked = false
    while true {
      var info = unsafe siginfo_t()
      let status = unsafe Kernel.waitid(group, &info, WEXITED | WNOWAIT | WNOHANG)
      if status == 0, unsafe info.si_signo == SIGCHLD {
        let value = unsafe info._sifields._sigchld.si_status
        let ending = unsafe info.si_code == CLD_EXITED ? Ending.exit(value) : .signal(value)
        // What it started itself goes with it. From the moment that it is reaped its number may be another's.
        Kernel.kill(-group, SIGKILL)
        RunningGroup.clear(group)
        var number: Int32 = 0
        _ = Kernel.waitpid(group, &number, WNOHANG)
        return ending
      }
      if !isAsked, Interruption.isRequested {
        isAsked = true
        Kernel.kill(group, SIGTERM)
      }
      rest(for: period)
    }
  }
}
