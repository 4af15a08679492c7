extension Template {
  /// A lock without Bluetooth: one program, and what tests it.
  static let execFiles: [File] = [
    File(
      "README.md",
      #"""
      # NAME

      | file | what it is |
      |---|---|
      | `NAME.yaml` | the machine: what the lock may do |
      | `device.py` | the lock, as a program |
      | `scenarios/` | what is tested by hand |
      | `bench.yaml`, `nightly.yaml` | what the lab owns, and what a night does with it |
      | `lockstep_device.py` | from `lockstep bindings python`; nothing to change |
      | `.github/workflows/lockstep.yml` | for CI |

          lockstep run scenarios
          lockstep fuzz NAME.yaml --device 'exec:python3 device.py' --steps 20000
          lockstep fuzz NAME.yaml --device 'exec:python3 device.py bug' --steps 20000
          lockstep nightly nightly.yaml

      The third finds the bug that is planted in `device.py`.

      """#),
    File(
      "NAME.yaml",
      #"""
      # What the lock may do, as whoever stands before it sees it. All keys: page "Machine files" of the documentation.
      machine: NAME

      # What a state shows is its name, unless it has a status of its own: several states may look alike from outside.
      states:
        - locked
        - { name: locked (one wrong), status: locked }
        - { name: locked (two wrong), status: locked }
        - unlocked
        - shutOut

      # What a test does to it, with what goes with it, and the values that it reports.
      events:
        - enter
        - enterWrong
        - lock
        - readBattery
      readings: { battery: number }

      starts:
        - { state: locked }

      transitions:
        - { event: enter, from: [locked, locked (one wrong), locked (two wrong)], to: unlocked }
        - { event: lock, from: unlocked, to: locked }

        # The third wrong code in a row shuts everybody out.
        - { event: enterWrong, from: locked, to: locked (one wrong) }
        - { event: enterWrong, from: locked (one wrong), to: locked (two wrong) }
        - { event: enterWrong, from: locked (two wrong), to: shutOut }

        # Three timers: exactly so long after the state was entered. `within` and `not-before` allow for more and less.
        - { from: unlocked, to: locked, after: 5 s }
        - { from: shutOut, to: locked, after: 30 s }
        - { from: [locked (one wrong), locked (two wrong)], to: locked, after: 60 s }

        # What is always possible and changes nothing: "*" is every state, "=" the same one.
        - { event: readBattery, from: "*", to: "=" }

      """#),
    File(
      "device.py",
      #"""
      """The lock as a program: no Bluetooth, no clock. `after` is all there is to time, so an hour costs nothing.

      With the argument `bug` it shuts people out after two wrong codes instead of three.
      """

      import sys

      import lockstep_device

      TRIES = 2 if "bug" in sys.argv[1:] else 3

      lock = lockstep_device.Device("NAME", readings=["battery"], moves=["enter", "lock"])


      def turn(state, back=None):
          if lock.timer:
              lock.timer.cancel()
          lock.state, lock.wrong = state, 0
          lock.timer = lock.after(back, lambda: turn("locked")) if back else None
          lock.show(state)


      @lock.reset
      def reset():
          """A test begins."""
          lock.timer = None
          turn("locked")


      @lock.stimulus
      def enter():
          # What the machine has no row for is refused.
          if lock.state != "locked":
              lock.refuse("it is %s" % lock.state)
          turn("unlocked", back=5)


      @lock.stimulus
      def enterWrong():
          if lock.state != "locked":
              lock.refuse("it is %s" % lock.state)
          lock.wrong += 1
          if lock.wrong == TRIES:
              return turn("shutOut", back=30)
          if lock.timer:
              lock.timer.cancel()
          lock.timer = lock.after(60, forget)


      def forget():
          lock.wrong = 0


      @lock.stimulus("lock")
      def lockAgain():
          if lock.state != "unlocked":
              lock.refuse("it is %s" % lock.state)
          turn("locked")


      @lock.stimulus
      def readBattery():
          lock.reading("battery", 5.9)


      lock.run()

      """#),
    File(
      "bench.yaml",
      #"""
      # What the lab owns: here, a lock that programs play. A real one has a `file` in place of its `device`, and dongles lead to it.
      bench: NAME
      locks:
        - { name: twin, device: "exec:python3 device.py" }

      """#),
    File(
      "scenarios/battery.yaml",
      #"""
      scenario: The battery can be read in every state
      machine: ../NAME.yaml
      device: "exec:python3 device.py"
      steps:
        - readBattery
        - { expect: { battery: { above: 5, below: 6.5 } } }
        - enter
        - readBattery
        - { expect: { battery: { above: 5, below: 6.5 } } }

      """#),
    File(
      "scenarios/opens.yaml",
      #"""
      scenario: The right code opens it, and it locks by itself
      machine: ../NAME.yaml
      device: "exec:python3 device.py"
      steps:
        - enter
        - { expect: { status: unlocked } }
        - { until: { status: locked, within: 5 s } }

      """#),
    File(
      "scenarios/shuts-out.yaml",
      #"""
      scenario: Three wrong codes shut everybody out for half a minute
      machine: ../NAME.yaml
      device: "exec:python3 device.py"
      steps:
        - repeat: { times: 3, steps: [enterWrong] }
        - { expect: { status: shutOut } }
        # What is not possible is refused, and that is what the machine says too.
        - refuse: enter
        - { until: { status: locked, within: 30 s } }
        - enter

      """#),
  ]
}
