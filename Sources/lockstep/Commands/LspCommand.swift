import Automata
import Basics
import CommandLine
import Devices
import Journal
import LanguageServer
import Models
import System

extension Command {
  static var lsp: Command {
    Command(
      "lsp", "Serves an editor: problems as you type, completion, what a name means and where it stands.",
      discussion: """
        It speaks the Language Server Protocol 3.17 on standard input and output; an editor starts it. What is open there is
        looked at and never run: no program that a scenario names is started, and no lock is asked.

        """,
      examples: [Example("lockstep lsp", "As an editor starts it.")],
      options: [
        .flag(
          "stdio", \.isExplicit, "Standard input and output, which editors ask for and which is the only way."
        )
      ], defaults: LspArguments()
    ) { _, console throws(UsageError) in
      var server = EditorServer(
        MachineDefinition.catalog, provider: World().devices, settings: .lockstep, version: Version.text,
        readMachine: World.readMachine)
      var stream = MessageStream()
      while server.status == nil {
        let bytes = stream.receive()
        if bytes.isEmpty { server.end() }
        do throws(SystemError) {
          for answer in server.receive(bytes) { try stream.send(answer.line, framed: EditorServer.framed) }
        } catch {
          console.say("lockstep: the editor does not listen any more: \(errorText(error.code))")
          return .labFault
        }
      }
      return server.status == 0 ? .agree : .divergence
    }
  }
}

private struct LspArguments {
  var isExplicit = false
}
