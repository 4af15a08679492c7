import Automata
import Conformance
import Emulator
import Models
import Basics

/// Generated tests on a device: the explorer, the shrinker and the loop that a campaign drives, and nothing around them.
struct FuzzSearch<Device: DeviceUnderTest, Recorder: TraceRecorder> {
  /// What a search came to.
  struct Result {
    /// How many events were done up to the first disagreement, it included; `nil` when there was none.
    var found: Int?
    /// How many events the test has that is left after shrinking.
    var length = 0
    /// How many tests shrinking ran.
    var shrinkRuns = 0
    /// How many events were done in them.
    var shrinkEvents = 0
  }

  /// Model and device.
  private(set) var lockstep: Lockstep<Device, Recorder>
  /// How many choices were made.
  private(set) var events = 0
  private let alphabet: Alphabet
  private let starts: [StartCondition]
  private var explorer: Explorer
  private var execution = Execution()
  private let recorder: () -> Recorder

  /// Prepares a search for where a device differs from a machine.
  init(_ machine: Machine, _ device: Device, seed: UInt64, recorder: @escaping () -> Recorder) {
    let abilities = device.abilities
    let specification = Specification(
      machine, showsEffects: abilities.showsEffects, holding: abilities.circumstances)
    lockstep = Lockstep(specification, device, recorder: recorder())
    alphabet = Alphabet(specification, abilities)
    starts = machine.startConditions(of: abilities)
    explorer = Explorer(alphabet, starts: starts.count, seed: seed)
    self.recorder = recorder
  }

  /// Does tests up to the first disagreement, or for so many events; returns the test that failed.
  mutating func explore(_ budget: Int) throws(LabFault) -> TestCase? {
    while events < budget {
      lockstep.recorder = recorder()
      execution.performed.removeAll(keepingCapacity: true)
      execution.situations.removeAll(keepingCapacity: true)
      execution.actions.removeAll(keepingCapacity: true)
      let start = explorer.begin()
      if try lockstep.reset(to: starts[start]) != nil { return TestCase(start: start) }
      while events < budget {
        let situation = lockstep.situation
        guard let choice = explorer.next(in: situation), let action = alphabet.action(of: choice) else {
          break
        }
        execution.performed.append(choice)
        execution.situations.append(situation)
        events += 1
        let (done, divergence) = try lockstep.carryOut(action)
        execution.actions.append(done)
        if let divergence {
          execution.divergence = divergence
          execution.wasDisturbed = lockstep.wasDisturbed
          return TestCase(start: start, execution.performed)
        }
      }
      _ = explorer.end(in: lockstep.situation)
    }
    return nil
  }

  /// How often model and lock disagree within so many events; `nil` when the lock cannot do what it is asked for.
  mutating func disagreements(_ budget: Int) -> Int? {
    var count = 0
    do {
      while events < budget {
        if try explore(budget) != nil { count += 1 }
      }
      return count
    } catch {
      return nil
    }
  }

  /// Looks for a disagreement and, if that is wanted, makes the test that shows it as short as it gets.
  mutating func run(_ budget: Int, isShrunk: Bool) throws(LabFault) -> Result {
    guard let test = try explore(budget), let divergence = execution.divergence else {
      return Result()
    }
    var result = Result(found: events)
    guard isShrunk else { return result }
    var shrinker = Shrinker(
      execution, of: test, specification: lockstep.tracker.specification, alphabet: alphabet, starts: starts)
    while let candidate = shrinker.next() {
      let outcome = try lockstep.run(candidate, alphabet, starts: starts)
      result.shrinkRuns += 1
      result.shrinkEvents += outcome.events
      shrinker.tell(outcome, isSame: outcome.divergence?.isLike(divergence) ?? false)
    }
    result.length = shrinker.best.choices.count
    return result
  }

  /// How many events it takes to visit every cell of the tables; `nil` when some are left.
  mutating func tour() throws(LabFault) -> Int? {
    var tour = Tour(lockstep.tracker.specification, alphabet, starts: starts)
    while !tour.isFinished {
      guard try lockstep.reset(to: starts[tour.begin()]) == nil else { return nil }
      while let choice = tour.next(in: lockstep.situation), let action = alphabet.action(of: choice) {
        guard try lockstep.carryOut(action).divergence == nil else { return nil }
      }
      tour.end(in: lockstep.situation)
    }
    let total = lockstep.tracker.coverage.total
    guard total.legal.visited == total.legal.count, total.empty.visited == total.empty.count else {
      return nil
    }
    return tour.events
  }
}

extension FuzzSearch where Device == ReferenceLock {
  /// Prepares a search on the reference lock; `nil` when the machine is not well-formed, which is our own fault.
  init?(_ lock: ReferenceLock, seed: UInt64, recorder: @escaping () -> Recorder) {
    let definition: MachineDefinition =
      lock.abilities.circumstances.isEmpty ? .sesameTable : .sesameTableWithLosses
    guard let machine = try? Machine(definition) else { return nil }
    self.init(machine, lock, seed: seed, recorder: recorder)
  }
}
