package import Benchmarks
package import CommandLine
import System
import Journal

extension Command {
  static var bench: Command {
    bench(
      Figure.all, "Measures the performance of this computer, and prints one result per line as JSON.",
      examples: [
        Example("lockstep bench", "All figures, which takes minutes."),
        Example("lockstep bench --only direct.", "Those of sessions over the direct link."),
      ])
  }

  /// Returns the command that measures these figures.
  package static func bench(_ all: [Figure], _ summary: String, examples: [Example]) -> Command {
    Command(
      "bench", summary, examples: examples,
      options: [
        .value(
          "only", \.self, "PREFIX", "Only results whose names begin with this text.", example: "direct.",
          as: .choice(all.map(\.name)))
      ], defaults: String?.none
    ) { prefix, console throws(UsageError) in
      let prefix = prefix ?? ""
      let figures = all.filter {
        $0.name.hasPrefix(prefix) && (!$0.isOnRequest || !prefix.isEmpty)
      }
      guard !figures.isEmpty else {
        console.say(
          "lockstep: no figure begins so; the figures are \(all.map(\.name).joined(separator: ", "))")
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
