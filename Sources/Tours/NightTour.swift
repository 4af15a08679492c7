import Journal

extension GuidedTour {
  /// The tour of a nightly run with three emulated locks, one of which has a bug.
  static let night = GuidedTour(
    name: "night", title: "A night over three emulated locks, and a page in the morning.",
    beginning: """
      A lab has many locks, and at night it runs unattended. A bench lists the locks, and a plan says what to run on \
      them. Lockstep drives all of it, ends what hangs, skips what is broken, and writes one page. Here the three locks \
      are emulated, and a night of eight hours takes a second. One of them reports 'locked' when its bolt jams.
      """,
    files: [
      File("bench.yaml", bench), File("night.yaml", plan), File("scenarios/alone.yaml", alone),
      File("scenarios/jam.yaml", jam), File("scenarios/open-and-close.yaml", openAndClose),
    ],
    steps: [
      Step(
        "The locks, and what is done with them",
        """
        The bench names three locks; a real one would have the file with its key in place of an emulated device. The plan \
        joins suites and locks by their tags.
        """,
        [.show("bench.yaml"), .show("night.yaml")]),
      Step(
        "The tests",
        """
        Three scenarios: one opens and closes the lock, one leaves it alone for eight hours, and in one the bolt is \
        blocked. Is each of them well written? On a lock without a bug, all must agree:
        """,
        [.show("scenarios/jam.yaml"), .run(["run", "scenarios"], endsWith: .agree)],
        look: "'3 agree'. The eight hours took no time: nothing happened in them."),
      Step(
        "The night",
        """
        One command drives everything, each case in a process of its own. If the machine is switched off in the middle, \
        the same command resumes the night. The state of the locks, such as which process holds one, is kept in this \
        folder for the tour.
        """,
        [.keepState("state"), .run(["nightly", "night.yaml"], endsWith: .divergence)],
        look: """
          first what is new: the lock 'shed' showed 'locked' while its bolt was jammed. Then each lock: how many of its \
          cases have a verdict, and whether it is still in use; of a real one also its movements and its battery.
          """),
      Step(
        "The page in the morning",
        "The same results as a page. Open it in a browser:",
        [.page("Reports/nightly.html")],
        look: "'News' lists what needs attention, each with the command that replays it."),
      Step(
        "What to do",
        "Below each failure is a command to paste. It needs only its file, and shows what happened.",
        [.run(["replay", "Reports/runs/*-nightly/cases/*/failures/*.yaml"], endsWith: .divergence)],
        look: """
          the bolt was blocked before 'lock', so it could not reach its position, and yet the lock reports 'locked'. \
          This file is the test for the firmware fix.
          """),
    ],
    end: "You have seen a bench, a plan, a night and its page. With real locks, only the bench differs.",
    next: [
      ("lockstep help nightly", "a night, its limits and its reports; page 'Nightly runs and labs'"),
      ("lockstep schedule systemd --plan night.yaml", "a service that starts it each evening"),
      ("lockstep doctor", "whether this machine is fit for real locks; page 'A real lock'"),
    ])

  private static let bench = """
    bench: three-doors
    locks:
      - { name: front, device: emulator:sesame5, tags: [sesame5] }
      - { name: garage, device: emulator:sesame5, tags: [sesame5] }
      - { name: shed, device: "emulator:sesame5?defect=jam-reported-as-locked", tags: [sesame5] }

    """

  private static let plan = """
    nightly: A night of three doors
    bench: bench.yaml
    duration: 5 min
    suites:
      - { name: every lock, scenarios: scenarios, tags: [sesame5] }

    """

  private static let head = """
    machine: sesame
    device: { lock: sesame5, registered: true, configured: true }
    steps:
      - closeTo
      - connect
      - until: { status: locked }

    """

  private static let openAndClose =
    "scenario: The lock opens and closes\n" + head + """
        - unlock
        - expect: { status: unlocked, within: 5 s }
        - lock
        - expect: { status: locked, within: 5 s }

      """

  private static let alone =
    "scenario: After eight hours alone the lock still answers\n" + head + """
        - disconnect
        - wait: 8 h
        - closeTo
        - connect
        - until: { status: locked }
        - unlock
        - expect: { status: unlocked, within: 5 s }

      """

  private static let jam =
    "scenario: A bolt that is blocked is shown between its positions\n" + head + """
        - unlock
        - expect: { status: unlocked, within: 5 s }
        - fault: jam
        - lock
        - expect: { status: moved, within: 5 s }

      """
}
