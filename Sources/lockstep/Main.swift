import CommandLine
import Journal
import System

/// The command: joins the harness with the devices that there are.
@main
enum Main {
  static func main() {
    StandardStreams.take()
    FailedWrites.ignore()
    StatusSignal.block()
    let (words, console) = (Invocation.words, Console())
    for word in words { Secrecy.conceal(word) }
    let status = CommandSet.lockstep.run(words, console)
    // Whoever reads only what was printed has to learn that some of it is missing.
    let isWhole = console.finish() == nil
    Host.exit((isWhole ? status : status.withTrouble).rawValue)
  }
}
