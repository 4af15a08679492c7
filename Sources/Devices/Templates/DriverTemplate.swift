extension Template {
  /// A lock with Bluetooth: a driver, a peripheral, and what tests them.
  static let driverFiles: [File] = [
    File(
      "README.md",
      #"""
      # NAME

      | file | what it is |
      |---|---|
      | `NAME.yaml` | the machine: what the lock may do |
      | `driver.py` | the client: speaks the lock's protocol over Lockstep's Bluetooth |
      | `lock.py` | the lock, as a program behind Lockstep's Bluetooth |
      | `scenarios/` | what is tested by hand |
      | `bench.yaml`, `nightly.yaml` | what the lab owns, and what a night does with it |
      | `real.lock.yaml` | a real lock, for `driver.py` over a dongle |
      | `lockstep_device.py` | from `lockstep bindings python`; nothing to change |
      | `.github/workflows/lockstep.yml` | for CI |

          lockstep run scenarios
          lockstep fuzz NAME.yaml --device 'driver:python3 driver.py?peripheral=python3 lock.py' --steps 5000
          lockstep fuzz NAME.yaml --device 'driver:python3 driver.py?peripheral=python3 lock.py bug' --steps 5000
          lockstep nightly nightly.yaml
          lockstep emulate 'peripheral:python3 lock.py' --serve tcp-server:127.0.0.1:9000
          lockstep run scenarios --device lock:./real.lock.yaml --transport tcp-client:127.0.0.1:9000

      The third finds the bug that is planted in `lock.py`. The last two are two terminals: the driver over a real transport, the lock
      looked after as a real one is.

      """#),
    File(
      "NAME.yaml",
      #"""
      # What the lock may do, as whoever stands before it sees it. All keys: page "Machine files" of the documentation.
      machine: NAME

      # What a state shows is its name, unless it has a status of its own: several states may look alike from outside.
      states:
        - away
        - { name: listening, status: away }
        - heard
        - connecting
        - locked
        - { name: locked (one wrong), status: locked }
        - { name: locked (two wrong), status: locked }
        - { name: checking, status: checking }
        - { name: checking (first wrong), status: checking }
        - { name: checking (second wrong), status: checking }
        - { name: checking (third wrong), status: checking }
        - { name: locking, status: checking }
        - unlocked
        - { name: unlocked (found so), status: unlocked }
        - shutOut
        - { name: shutOut (found so), status: shutOut }

      # What a test does to it, and what the driver sees happen.
      events: [approach, connect, leave, unlock, unlockWrong, lock, { linkLost: spontaneous }]

      starts:
        - { state: away }

      transitions:
        # A row with `event` is what a stimulus leads to, at once. A row with `within` alone is the device's to take: it has so
        # much time. `not-before` makes a timer of it, which a test that waits can tell from one that is too fast.
        - { event: approach, from: away, to: listening }
        - { from: listening, to: heard, within: 2 s }
        - { event: connect, from: heard, to: connecting }
        # The lock says how it is when it is connected to; it may have been opened before.
        - { from: connecting, to: [locked, unlocked (found so), shutOut (found so)], within: 3 s }

        - { event: unlock, from: [locked, locked (one wrong), locked (two wrong)], to: checking }
        - { from: checking, to: unlocked, within: 1 s }
        - { event: lock, from: [unlocked, unlocked (found so)], to: locking }
        - { from: locking, to: locked, within: 1 s }

        # The third wrong code in a row shuts everybody out.
        - { event: unlockWrong, from: locked, to: checking (first wrong) }
        - { from: checking (first wrong), to: locked (one wrong), within: 1 s }
        - { event: unlockWrong, from: locked (one wrong), to: checking (second wrong) }
        - { from: checking (second wrong), to: locked (two wrong), within: 1 s }
        - { event: unlockWrong, from: locked (two wrong), to: checking (third wrong) }
        - { from: checking (third wrong), to: shutOut, within: 1 s }

        # Three timers: it locks by itself, lets people in again, and ends a link over which nothing is said.
        - { from: unlocked, to: locked, not-before: 4.9 s, within: 5.1 s }
        - { from: unlocked (found so), to: locked, within: 5.1 s }
        - { from: shutOut, to: locked, not-before: 29.9 s, within: 30.1 s }
        - { from: shutOut (found so), to: locked, within: 30.1 s }
        - { from: [locked, locked (one wrong), locked (two wrong)], to: away, not-before: 19.9 s, within: 20.1 s }
        # That time may be over just as a code is on its way.
        - from: [checking, checking (first wrong), checking (second wrong), checking (third wrong)]
          to: away
          within: 1 s

        # From every state. Leaving is the client's, and the air may take a link at any time: the driver says so when it sees it.
        - { event: leave, from: "*", to: away }
        - { event: linkLost, from: "*", to: away }

      """#),
    File(
      "driver.py",
      #"""
      """The client's side of the lock's protocol: turns stimuli into GATT operations, and what comes of them into statuses.

      It does no I/O of its own and reads no clock, so the same file drives lock.py on Lockstep's radio and the real lock over a
      dongle. Messages to the lock (characteristic fff1): 01 locks, 02 and a code unlock. From it (fff2): how it is.
      """

      import lockstep_device

      RIGHT, WRONG = b"1234", b"0000"
      STATES = ["locked", "unlocked", "shutOut"]

      driver = lockstep_device.Driver(
          "NAME",
          # How the lock is found where no address is known.
          services=["fff0"],
          # The event of the machine that this driver reports, and what may be done to the link in generated tests because of it.
          reports=["linkLost"], linkFaults=["lose-link"],
          # For a real lock: what its stimuli ask for, what its statuses mean, and what moves its motor. See the lock file.
          requests={
              "approach": "listen", "connect": "connect", "leave": "leave", "lock": "lock", "unlock": "unlock",
          },
          meanings={
              "away": "away", "heard": "heard", "connecting": "underWay", "checking": "proving", "locked": "locked",
              "unlocked": "unlocked", "shutOut": "moved",
          },
          moves=["lock", "unlock"])


      def show(status):
          driver.status = status
          driver.show(status)


      @driver.reset
      def reset():
          """A test begins: nothing is connected."""
          show("away")


      @driver.stimulus
      def approach():
          if driver.status != "away":
              driver.refuse("it is %s" % driver.status)
          driver.scan()


      @driver.heard
      def heard(advertisement):
          driver.stopScanning()
          show("heard")


      @driver.stimulus
      def connect():
          if driver.status != "heard":
              driver.refuse("it is %s" % driver.status)
          driver.connect(["fff0"])
          show("connecting")


      @driver.ready
      def ready(services):
          # Whoever subscribes is told how the lock is.
          driver.subscribe("fff2")


      @driver.notified("fff2")
      def notified(value):
          # What a packet means stands beside it in the report of a test that failed.
          driver.meaning("it is %s" % STATES[value[0]])
          show(STATES[value[0]])


      def send(message, text, status):
          if driver.status != status:
              driver.refuse("it is %s" % driver.status)
          driver.write("fff1", message, text=text)
          show("checking")


      @driver.stimulus
      def unlock():
          send(b"\x02" + RIGHT, "unlock", "locked")


      @driver.stimulus
      def unlockWrong():
          send(b"\x02" + WRONG, "unlock, with a wrong code", "locked")


      @driver.stimulus
      def lock():
          send(b"\x01", "lock", "unlocked")


      @driver.stimulus
      def leave():
          driver.stopScanning()
          driver.disconnect()
          if driver.status != "away":
              show("away")


      @driver.fault(level="messages", values=["empty", "unknown", "cut", "tail", "long"])
      def malformed(kind):
          """Writes what means nothing to a correct lock. Generated tests do so too, at the level of messages."""
          if driver.status in STATES:
              message = {
                  "empty": b"", "unknown": b"\x7f", "cut": b"\x02" + RIGHT[:2], "tail": b"\x02" + RIGHT + b"5",
                  "long": bytes(200),
              }[kind]
              driver.write("fff1", message, text="malformed: %s" % kind)


      @driver.disconnected
      def disconnected(reason, text):
          if driver.status == "away":
              return
          # 0x13: the lock has ended it. Whatever else it is, the air has lost it.
          if reason != 0x13:
              driver.event("linkLost", text)
          show("away")


      driver.run()

      """#),
    File(
      "lock.py",
      #"""
      """The lock, as a program behind Lockstep's Bluetooth: your twin until there is firmware, and your app's test bench.

      With the argument `bug` it shuts people out after two wrong codes instead of three.
      """

      import sys

      import lockstep_device

      LOCKED, UNLOCKED, SHUT_OUT = 0, 1, 2
      CODE = b"1234"
      TRIES = 2 if "bug" in sys.argv[1:] else 3

      lock = lockstep_device.Peripheral(
          "NAME", advertise={"name": "NAME", "services": ["fff0"]},
          services={"fff0": {"fff1": ["write"], "fff2": ["notify"]}})


      @lock.reset
      def reset():
          lock.state, lock.wrong, lock.isSubscribed = LOCKED, 0, False
          lock.timer = lock.idle = None


      def cancel(timer):
          if timer:
              timer.cancel()


      def tell():
          """Tells the client how the lock is, and waits for it to say something."""
          if lock.isSubscribed:
              lock.notify("fff2", bytes([lock.state]))
          cancel(lock.idle)
          lock.idle = lock.after(20, lock.disconnect) if lock.isSubscribed and lock.state == LOCKED else None


      def turn(state, back=None):
          lock.state, lock.wrong = state, 0
          cancel(lock.timer)
          lock.timer = lock.after(back, lambda: turn(LOCKED)) if back else None
          tell()


      @lock.subscription("fff2")
      def subscription(isOn):
          lock.isSubscribed = isOn
          if isOn:
              tell()


      @lock.disconnected
      def disconnected(reason, text):
          lock.isSubscribed, lock.wrong = False, 0
          cancel(lock.idle)


      @lock.written("fff1")
      def written(message):
          if message == b"\x01":
              # It may have locked by itself while this was on its way: that was said already.
              if lock.state == UNLOCKED:
                  turn(LOCKED)
          elif message[:1] == b"\x02" and len(message) == 1 + len(CODE) and lock.state == LOCKED:
              if message[1:] == CODE:
                  return turn(UNLOCKED, 5)
              lock.wrong += 1
              if lock.wrong == TRIES:
                  return turn(SHUT_OUT, 30)
              tell()
          # Whatever else is written means nothing to a correct lock.


      lock.run()

      """#),
    File(
      "bench.yaml",
      #"""
      # What the lab owns: here, a lock that programs play. A real one has a `file` in place of its `device`, and dongles lead to it.
      bench: NAME
      locks:
        - { name: twin, device: "driver:python3 driver.py?peripheral=python3 lock.py" }
      #  - { name: first, file: real.lock.yaml }
      # dongles:
      #  - { name: left, transport: "usb:0" }

      """#),
    File(
      "real.lock.yaml",
      #"""
      # A real lock that the driver speaks to: `lockstep run scenarios --device lock:./real.lock.yaml --transport usb:0`.
      driver: python3 driver.py
      machine: NAME.yaml
      # What it is known by; with `address: c7:e6:da:90:f5:f9` no other one is taken for it. `lockstep scan --all` shows addresses.
      id: NAME-1
      # What the driver is given and nobody else sees: `driver.secrets["code"]`, once the driver says secrets=["code"].
      # secrets: { code: env:LOCK_CODE }

      """#),
    File(
      "scenarios/lost-link.yaml",
      #"""
      scenario: A link that is lost in the middle, and another one
      machine: ../NAME.yaml
      device: { driver: python3 driver.py, peripheral: python3 lock.py }
      steps:
        - approach
        - { until: { status: heard, within: 2 s } }
        - connect
        - { until: { status: locked, within: 3 s } }
        - unlock
        - { until: { status: unlocked, within: 1 s } }
        - fault: lose-link
        - { until: { status: away, within: 3 s } }
        - approach
        - { until: { status: heard, within: 2 s } }
        - connect
        - { until: { status: [locked, unlocked], within: 3 s } }

      """#),
    File(
      "scenarios/opens.yaml",
      #"""
      scenario: The right code opens it, and it locks by itself
      machine: ../NAME.yaml
      device: { driver: python3 driver.py, peripheral: python3 lock.py }
      steps:
        - approach
        - { until: { status: heard, within: 2 s } }
        - connect
        - { until: { status: locked, within: 3 s } }
        - unlock
        - { until: { status: unlocked, within: 1 s } }
        - { until: { status: locked, within: 6 s } }
        - leave

      """#),
    File(
      "scenarios/shuts-out.yaml",
      #"""
      scenario: Three wrong codes shut everybody out for half a minute
      machine: ../NAME.yaml
      device: { driver: python3 driver.py, peripheral: python3 lock.py }
      steps:
        - approach
        - { until: { status: heard, within: 2 s } }
        - connect
        - { until: { status: locked, within: 3 s } }
        - repeat:
            times: 3
            steps:
              - unlockWrong
              - { wait: settled }
        - { expect: { status: shutOut } }
        # What is not possible is refused, and that is what the machine says too.
        - refuse: unlock
        - { until: { status: locked, within: 31 s } }

      """#),
  ]
}
