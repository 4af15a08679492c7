import Glibc
import Harness
import Transports

/// The command: joins the harness with the devices that there are.
@main
enum Main {
  static func main() {
    BrokenPipes.ignore()
    StatusSignal.block()
    let status = Commands.run(Array(CommandLine.arguments.dropFirst()), Console())
    exit(status.rawValue)
  }
}
