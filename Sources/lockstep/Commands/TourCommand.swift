import Basics
import CommandLine
import Journal
import System
import Tours

extension Command {
  static var tour: Command {
    Command(
      "tour", "Demonstrates Lockstep in a few minutes, with real commands and emulated locks.",
      discussion: """
        Each step describes a command, shows it, runs it when you press Enter, and points out what to look at. You need no lock,
        no dongle and no network. The tour works in its own folder, 'lockstep-tour' or that of --in, and tells you at the end
        how to remove it. A folder that contains other files is not used. Without a terminal, and with --yes, the tour
        continues by itself.

        Exit status: 0, also after q; 2 if the folder contains other files; 3 if it cannot be written, or a program that the
        tour needs is missing; 5 if it was interrupted; another status if a command did not end as the tour expects.

        """,
      examples: [
        Example("lockstep tour", "A bug in an emulated lock is found, made small and replayed."),
        Example("lockstep tour own-lock", "A lock of your own, as a program."),
        Example("lockstep tour night --yes --in my-night", "A night over three locks, without a pause."),
        Example("lockstep tour --list", "The tours that there are."),
      ],
      options: [
        .value(
          "in", \.root, "DIR", "The working folder of the tour. Default: lockstep-tour.",
          example: "/tmp/tour",
          as: .folder),
        .flag("yes", \.isUnattended, "Continues without waiting for Enter.", short: "y"),
        .flag("list", \.isList, "Lists the tours, and runs none."),
      ],
      operands: .init(
        placeholder: "TOUR",
        summary: "\(GuidedTour.all.map(\.name).joined(separator: ", ")). Default: the first of them.",
        count: 0...1,
        as: .choice(GuidedTour.all.map(\.name)), path: \.names),
      defaults: TourArguments(), perform: TourArguments.perform)
  }
}

private struct TourArguments {
  var names: [String] = []
  var root: String?
  var isUnattended = false
  var isList = false

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let name = names.first ?? GuidedTour.all[0].name
    guard let tour = GuidedTour.all.first(where: { $0.name == name }) else {
      throw UsageError(
        "unknown tour '\(name)': \(hint(for: name, of: GuidedTour.all.map(\.name), saying: "the tours are"))")
    }
    if isList {
      console.print(columns(GuidedTour.all.map { ($0.name, $0.title) }))
      return .agree
    }
    Interruption.listen()
    var guide = TourGuide(tour, in: root ?? "lockstep-tour", isUnattended: isUnattended, console)
    return try guide.lead()
  }
}
