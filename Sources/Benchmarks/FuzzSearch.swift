package import Automata
package import Conformance
import Emulator
import Harness
import Models

/// Generated tests on a device: the part that a campaign drives, without the campaign.
package struct FuzzSearch<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// The result of a search.
  package struct Result {
    /// The number of events up to and including the first disagreement, or `nil` if there was none.
    package var found: Int?
    /// The number of events in the test after shrinking.
    var length = 0
    /// The number of tests run for shrinking.
    var shrinkRuns = 0
    /// The number of events in those tests.
    var shrinkEvents = 0
  }

  /// The model and the device.
  private(set) var engine: TestEngine<Device, Recorder>
  private var explorer: Explorer

  /// Prepares a search for differences between a device and a machine.
  package init(
    _ machine: Machine, _ device: Device, settings: Explorer.Settings = .init(), seed: UInt64,
    recorder: Recorder
  ) {
    let abilities = device.abilities
    let specification = Specification(
      machine, showsEffects: abilities.showsEffects, holding: abilities.conditions)
    var settings = settings
    settings.isThrifty = !specification.isPlain
    engine = TestEngine(
      specification, Alphabet(specification, abilities), starts: machine.startConditions(of: abilities),
      device,
      recorder: recorder)
    explorer = Explorer(engine.alphabet, starts: engine.starts.count, settings: settings, seed: seed)
  }

  /// Returns how often the model and the lock disagree within a number of events, or `nil` if the lock lacks an
  /// ability.
  mutating func disagreements(_ budget: Int) -> Int? {
    var count = 0
    while engine.events < budget {
      do {
        if try engine.perform(all: &explorer, maximum: budget - engine.events) != nil { count += 1 }
      } catch {
        return nil
      }
    }
    return count
  }

  /// Searches for a disagreement and, if requested, shrinks the test that shows it.
  package mutating func run(_ budget: Int, isShrunk: Bool) throws(LabFault) -> Result {
    guard let failure = try engine.perform(all: &explorer, maximum: budget),
      let divergence = failure.divergence
    else { return Result() }
    var result = Result(found: engine.events)
    guard isShrunk else { return result }
    var shrinker = Shrinker(
      failure, of: failure.test, specification: engine.specification, alphabet: engine.alphabet,
      starts: engine.starts)
    while let candidate = shrinker.next() {
      let outcome = try engine.run(candidate)
      result.shrinkRuns += 1
      result.shrinkEvents += outcome.events
      shrinker.noteResult(outcome, isSame: outcome.divergence?.isLike(divergence) ?? false)
    }
    result.length = shrinker.best.choices.count
    return result
  }

  /// Returns the number of events that visit every cell of the tables, or `nil` if some cells remain.
  mutating func tour() throws(LabFault) -> Int? {
    var tour = Tour(engine.specification, engine.alphabet, starts: engine.starts)
    guard try engine.perform(all: &tour) == nil else { return nil }
    let total = engine.lockstep.tracker.coverage.total
    guard total.legal.visited == total.legal.count, total.empty.visited == total.empty.count else {
      return nil
    }
    return tour.events
  }
}

extension FuzzSearch where Device == ReferenceLock {
  /// Prepares a search on the reference lock; `nil` if the machine is malformed, which is our own error.
  init?(_ lock: ReferenceLock, settings: Explorer.Settings = .init(), seed: UInt64, recorder: Recorder) {
    let definition: MachineDefinition =
      lock.abilities.conditions.isEmpty ? .sesameTable : .sesameTableWithLosses
    guard let machine = try? Machine(definition) else { return nil }
    self.init(machine, lock, settings: settings, seed: seed, recorder: recorder)
  }
}
