import CommandLine
import Devices
import Programs
import Reporting
import Harness
import System
import Conformance
import Journal
import Basics

extension Command {
  /// A worker process of `fuzz --jobs`; hidden from users.
  static var fuzzWorker: Command {
    Command(
      "fuzz-worker", "Explores for 'lockstep fuzz --jobs'.",
      options: FuzzArguments.options,
      operands: .init(
        placeholder: "MACHINE", summary: "The machine.", count: 1...1, path: \.operands),
      defaults: FuzzArguments()
    ) { arguments, console throws(UsageError) in
      EndingSignals.ignore()
      guard let orders = EndOfInput.firstLine().flatMap({ try? WorkerOrders(JSON(parsing: $0)) })
      else {
        throw UsageError("this command is for 'lockstep fuzz --jobs' alone")
      }
      var earlier = CampaignState(
        machine: arguments.operands[0], device: "", seed: arguments.run.seed ?? 0)
      earlier.round = orders.round - 1
      earlier.findings = orders.known.map { .init(signature: $0, path: "", length: 0, count: 0) }
      var arguments = arguments
      arguments.run.job = orders.job
      let world = try World.forCampaign(arguments)
      let plan = try CampaignPlan(arguments, in: world, earlier: earlier)
      EndOfInput.watch()
      world.devices.output = ProgramOutput(in: orders.folder)
      let output = WorkerOutput(console) { test, listener, body, say in
        world.devices.recording(test, in: orders.folder, listener, body, orSay: say)
      }
      let use = FolderUse(of: arguments.run.reports.out) {}
      defer { withExtendedLifetime(use) {} }
      let end = CampaignSession(plan, output).perform()
      world.devices.shutDown()
      output.send(.end(end.cause, end.status))
      return .agree
    }
  }
}
