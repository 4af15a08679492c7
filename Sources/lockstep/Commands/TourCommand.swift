import Basics
import CommandLine
import Journal
import System
import Tours

extension Command {
  static var tour: Command {
    Command(
      "tour", "Shows in a few minutes what can be done, with real commands and emulated locks.",
      discussion: """
        Each step says what comes, shows a command, runs it when Enter is pressed, and says what to look at. No lock, no
        dongle and no network are needed. The tour works in a folder of its own, in the folder 'lockstep-tour' unless --in
        names another one, and says at the end how it is removed. A folder with other files in it is left alone. Where no
        terminal is read from, and with --yes, it goes on by itself.

        Exit status: 0, also where q ended it; 2 where the folder is somebody else's; 3 where it cannot be written, or a
        program that the tour needs is not there; 5 when it was stopped; another one where a command ended otherwise than the
        tour expects.

        """,
      examples: [
        Example("lockstep tour", "A bug in an emulated lock is found, made small and replayed."),
        Example("lockstep tour own-lock", "A lock of your own, as a program."),
        Example("lockstep tour night --yes --in my-night", "A night over three locks, without a pause."),
        Example("lockstep tour --list", "The tours that there are."),
      ],
      options: [
        .value(
          "in", \.place, "DIR", "Where the tour works. lockstep-tour unless given.", example: "/tmp/tour",
          as: .folder),
        .flag("yes", \.isAlone, "Goes on without waiting for Enter.", short: "y"),
        .flag("list", \.isList, "Says which tours there are, and runs none."),
      ],
      operands: .init(
        placeholder: "TOUR",
        summary: "\(GuidedTour.all.map(\.name).joined(separator: ", ")); the first of them unless given.",
        count: 0...1,
        as: .choice(GuidedTour.all.map(\.name)), path: \.names),
      defaults: TourArguments(), perform: TourArguments.perform)
  }
}

private struct TourArguments {
  var names: [String] = []
  var place: String?
  var isAlone = false
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
    var guide = TourGuide(tour, in: place ?? "lockstep-tour", isAlone: isAlone, console)
    return try guide.lead()
  }
}
