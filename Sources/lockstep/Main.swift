import Glibc
import Harness
import Secrets
import Transports

/// The command: joins the harness with the devices that there are.
@main
enum Main {
  static func main() {
    BrokenPipes.ignore()
    StatusSignal.block()
    let (words, console) = (Array(CommandLine.arguments.dropFirst()), Console())
    for password in words.flatMap(Passwords.secrets) { try? Redactor.shared.register(password) }
    let status = Commands.run(words, console)
    console.finish()
    exit(status.rawValue)
  }
}
