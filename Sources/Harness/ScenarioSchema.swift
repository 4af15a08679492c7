import Conformance
public import Basics
import Documents

extension Scenario {
  /// The JSON Schema (draft-07) of a scenario, as editors read it.
  ///
  /// It knows the grammar, and what goes with the stimuli, and what the readings are, of the machines that are built in.
  /// Which machine a scenario is of, and so that `lock` is no stimulus of a door, only the reader knows.
  public static let schema: JSON =
    Form.mapping(ScenarioGrammar.scenario, others: nil).schema(
      title: "A scenario of Lockstep",
      summary: "What is to be done with a lock, and what is expected of it.",
      definitions: [("step", ScenarioGrammar.step)])
}
