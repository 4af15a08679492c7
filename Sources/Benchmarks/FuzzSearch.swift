package import Automata
package import Conformance
import Emulator
import Harness
import Models

/// Generated tests on a device: what a campaign drives, and nothing around it.
package struct FuzzSearch<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// What a search came to.
  package struct Result {
    /// How many events were done up to the first disagreement, it included; `nil` when there was none.
    package var found: Int?
    /// How many events the test has that is left after shrinking.
    var length = 0
    /// How many tests shrinking ran.
    var shrinkRuns = 0
    /// How many events were done in them.
    var shrinkEvents = 0
  }

  /// Model and device.
  private(set) var engine: TestEngine<Device, Recorder>
  private var explorer: Explorer

  /// Prepares a search for where a device differs from a machine.
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

  /// How often model and lock disagree up to so many events; `nil` when the lock cannot do what it is asked for.
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

  /// Looks for a disagreement and, if that is wanted, makes the test that shows it as short as it gets.
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

  /// How many events it takes to visit every cell of the tables; `nil` when some are left.
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
  /// Prepares a search on the reference lock; `nil` when the machine is not well-formed, which is our own fault.
  init?(_ lock: ReferenceLock, settings: Explorer.Settings = .init(), seed: UInt64, recorder: Recorder) {
    let definition: MachineDefinition =
      lock.abilities.conditions.isEmpty ? .sesameTable : .sesameTableWithLosses
    guard let machine = try? Machine(definition) else { return nil }
    self.init(machine, lock, settings: settings, seed: seed, recorder: recorder)
  }
}
