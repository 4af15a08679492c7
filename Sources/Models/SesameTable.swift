public import Automata

extension MachineDefinition {
  /// The two tables of the Sesame documentation, and nothing else: thirteen stimuli, nothing spontaneous.
  ///
  /// What happens by itself on a real lock is a stimulus here: `linkUp` is the row *connecting*, `gattReady` the row
  /// *waitingGatt*, `registered` the row *registering* and `loginDone` the row *logining*. Of 208 pairs of state and
  /// stimulus, 31 are legal; a device ignores or refuses the other 177. Where the tables are ambiguous:
  ///
  /// 1. `lock` leads to `locked` and `unlock` to `unlocked`. The printed cells are swapped; the vendor's own diagram
  ///    and code agree with the natural reading.
  /// 2. The lock has its key from `registered` on, so `nosetting` belongs to the registered lock.
  /// 3. `configure` is allowed in every `nosetting`, after registration and after a login.
  /// 4. `reset` is listed as a status without a row: it is allowed when logged in, and the lock erases its key when
  ///    the link ends.
  /// 5. `disconnect` is allowed only where the tables have it, and in `reset`.
  public static let sesameTable: MachineDefinition = {
    var machine = MachineDefinition(
      name: "sesame-table", summary: "The two tables of the Sesame documentation, driven step by step.")
    machine.events = [
      "closeTo", "connect", "linkUp", "gattReady", "register", "registered", "configure", "loginDone", "lock",
      "unlock", "toggle", "disconnect", "reset",
    ].map { Event($0, arguments: SesameEvents.arguments(of: $0)) }
    // swift-format-ignore
    machine.add(table: """
      | action/status | noSignal    | receivedBle | connecting  | waitingGatt     | readytoRegister | registering            |
      |:-------------:|:-----------:|:-----------:|:-----------:|:---------------:|:---------------:|:----------------------:|
      | closeTo       | receivedBle |             |             |                 |                 |                        |
      | connect       |             | connecting  |             |                 |                 |                        |
      | linkUp        |             |             | waitingGatt |                 |                 |                        |
      | gattReady     |             |             |             | readytoRegister |                 |                        |
      | register      |             |             |             |                 | registering     |                        |
      | registered    |             |             |             |                 |                 | nosetting (registered) |
      """, region: "unregistered")
    // swift-format-ignore
    machine.add(table: """
      | action/status | noSignal    | receivedBle | connecting  | waitingGatt | logining                        | locked   | unlocked | moved           | nosetting             |
      |:-------------:|:-----------:|:-----------:|:-----------:|:-----------:|:-------------------------------:|:--------:|:--------:|:---------------:|:---------------------:|
      | closeTo       | receivedBle |             |             |             |                                 |          |          |                 |                       |
      | connect       |             | connecting  |             |             |                                 |          |          |                 |                       |
      | linkUp        |             |             | waitingGatt |             |                                 |          |          |                 |                       |
      | gattReady     |             |             |             | logining    |                                 |          |          |                 |                       |
      | loginDone     |             |             |             |             | locked/unlocked/moved/nosetting |          |          |                 |                       |
      | configure     |             |             |             |             |                                 |          |          |                 | locked/unlocked/moved |
      | lock          |             |             |             |             |                                 | locked   | locked   | locked          |                       |
      | unlock        |             |             |             |             |                                 | unlocked | unlocked | unlocked        |                       |
      | toggle        |             |             |             |             |                                 | unlocked | locked   | locked/unlocked |                       |
      | disconnect    |             |             |             |             | noSignal                        | noSignal | noSignal | noSignal        | noSignal              |
      """, region: "registered")
    // swift-format-ignore
    machine.add(table: """
      | action/status | locked/unlocked/moved/nosetting | reset                   |
      |:-------------:|:-------------------------------:|:-----------------------:|
      | reset         | reset                           |                         |
      | disconnect    |                                 | noSignal (unregistered) |
      """, region: "registered", origin: .ours)
    machine.declare(regions: ["unregistered", "registered"])
    machine.starts = [
      Start("noSignal (unregistered)", when: [.init("registered", false)]),
      Start("noSignal (registered)", when: [.init("registered", true)]),
    ]
    return machine
  }()

  /// The tables over a link that can be lost at any event, under the condition `loss`.
  ///
  /// From `connecting` on, the link can be lost by itself. The reply to a stimulus can be lost with it, and then the
  /// lock may have obeyed the stimulus or not. The same holds for a reset whose end the client did not see.
  public static let sesameTableWithLosses: MachineDefinition = {
    var machine = MachineDefinition.sesameTable
    machine.summary =
      "The two tables of the Sesame documentation, driven step by step, over a link that is lost at times."
    machine.conditions = [Condition("loss")]
    machine.events.append(Event("linkLost", .spontaneous))
    let starts = machine.states.map(\.name).filter { State.status(of: $0) == "noSignal" }
    func home(of state: String) -> [String] {
      if State.status(of: state) == "reset" { return starts }
      return starts.filter { $0.hasSuffix(state.drop { $0 != "(" }) }
    }
    let linked = machine.states.map(\.name).filter {
      !["noSignal", "receivedBle"].contains(State.status(of: $0))
    }
    for row in machine.transitions {
      guard case .states(let sources) = row.from, case .states(let targets) = row.to else { continue }
      // A row that ends the link looks the same if its reply is lost.
      guard targets.contains(where: linked.contains) else { continue }
      for source in sources {
        let homes = starts.filter { (home(of: source) + targets.flatMap(home)).contains($0) }
        machine.transitions.append(
          Transition(row.trigger, from: .states([source]), to: .states(homes), given: ["loss"], origin: .ours)
        )
      }
    }
    for state in linked {
      machine.transitions.append(
        Transition(
          .event("linkLost"), from: .states([state]), to: .states(home(of: state)), given: ["loss"],
          origin: .ours))
    }
    return machine
  }()
}
