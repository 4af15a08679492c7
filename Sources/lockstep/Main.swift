import Journal
import System
import Secrets

/// The command: joins the harness with the devices that there are.
@main
enum Main {
  static func main() {
    FailedWrites.ignore()
    StatusSignal.block()
    let (words, console) = (Array(CommandLine.arguments.dropFirst()), Console())
    for word in words {
      for password in Passwords.secrets(in: word) { try? Redactor.shared.register(password) }
      Redactor.shared.registerLookalikes(in: Array(word.utf8))
    }
    let status = Commands.run(words, console)
    console.finish()
    Host.exit(status.rawValue)
  }
}
