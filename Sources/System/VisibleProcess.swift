import Basics
import Glibc

/// A child process of this program with the same output as this one, and no input.
///
/// It has a process group of its own: Ctrl-C reaches this process only, which passes on the first one and
/// kills the child at the second.
public enum VisibleProcess {
  /// The interval at which its end is checked.
  private static let period = Interval.milliseconds(10)

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - words: its arguments.
  ///   - folder: its working directory.
  ///   - variables: additional environment variables, as `NAME=VALUE`.
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
        // Its own children are killed, too. After it is reaped, its number may be reused.
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
