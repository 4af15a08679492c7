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
      "lsp", "Runs the language server for editors: diagnostics, completion, hover and definitions.",
      discussion: """
        Speaks the Language Server Protocol 3.17 on standard input and output; an editor starts it. It only analyses open files:
        it starts no program that a scenario names, and connects to no lock.

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
