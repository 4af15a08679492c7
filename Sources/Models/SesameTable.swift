public import Automata

extension MachineDefinition {
  /// The two tables of the Sesame documentation, and nothing else: thirteen stimuli, nothing spontaneous.
  ///
  /// What happens by itself on a real lock is a stimulus here: `linkUp` is the row *connecting*, `gattReady` the
  /// row *waitingGatt*, `registered` the row *registering* and `loginDone` the row *logining*. Of 208 pairs of state
  /// and stimulus 31 are legal; a device ignores or refuses the other 177. Where the tables leave something open:
  ///
  /// 1. `lock` leads to `locked` and `unlock` to `unlocked`. The printed cells are the other way round; the
  ///    vendor's own diagram and code agree with the natural reading.
  /// 2. The lock has its key from `registered` on, so `nosetting` belongs to the registered lock.
  /// 3. `configure` is allowed in every `nosetting`, after registration and after a login.
  /// 4. `reset` is listed as a status without a row: it is allowed when logged in, and the lock forgets its
  ///    key when the link ends.
  /// 5. `disconnect` is allowed only where the tables have it, and in `reset`.
  public static let sesameTable: MachineDefinition = {
    var machine = MachineDefinition(
      name: "sesame-table", summary: "The two tables of the Sesame documentation, driven step by step.")
    machine.events = [
      "closeTo", "connect", "linkUp", "gattReady", "register", "registered", "configure", "loginDone", "lock",
      "unlock", "toggle", "disconnect", "reset",
    ].map { Event($0) }
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
    machine.starts = [
      Start("noSignal (unregistered)", when: [.init("registered", false)]),
      Start("noSignal (registered)", when: [.init("registered", true)]),
    ]
    return machine
  }()
}
