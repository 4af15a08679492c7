import CommandLine
import System
import Benchmarks
import Journal

extension Command {
  static var bench: Command {
    Command(
      "bench", "Measures this machine, and prints a figure a line as JSON.",
      examples: [
        Example("lockstep bench", "All figures, which takes minutes."),
        Example("lockstep bench --only direct.", "Those of sessions over the direct link."),
      ],
      options: [
        .value(
          "only", \.self, "PREFIX", "Only figures whose names begin so.", example: "direct.",
          as: .choice(Figure.all.map(\.name)))
      ], defaults: String?.none
    ) { prefix, console throws(UsageError) in
      let prefix = prefix ?? ""
      let figures = Figure.all.filter {
        $0.name.hasPrefix(prefix) && (!$0.isOnRequest || prefix.hasPrefix("fuzz.without"))
      }
      guard !figures.isEmpty else {
        console.say(
          "lockstep: no figure begins so; the figures are \(Figure.all.map(\.name).joined(separator: ", "))")
        return .nothingSelected
      }
      Interruption.listen(saying: "lockstep: stopped before everything was measured")
      let isWhole = Figure.measure(figures) { figure, line in
        if let line {
          console.print(line)
        } else {
          console.say("lockstep: \(figure.name) cannot be measured here")
        }
      }
      return isWhole ? .agree : .internalFault
    }
  }
}
