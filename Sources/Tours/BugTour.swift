import Journal

extension GuidedTour {
  /// The tour that finds, shrinks and replays a defect of an emulated lock.
  static let bug = GuidedTour(
    name: "bug", title: "A bug in an emulated lock is found, made small and replayed.",
    beginning: """
      Lockstep gives the same events to a model of a lock and to a lock, and stops at the first moment at which the two do \
      not agree. This tour shows that on an emulated Sesame lock. It speaks the real, encrypted protocol, but its time is \
      virtual: eleven minutes of its life take a moment of yours.
      """,
    files: [File("open-and-close.yaml", openAndClose)],
    steps: [
      Step(
        "A hand-written test",
        """
        A scenario is a file. It lists, step by step, what to do with the lock and what to expect. The model checks each \
        step as well, even where the file expects nothing. First on a lock without a bug:
        """,
        [.show("open-and-close.yaml"), .run(["run", "open-and-close.yaml"], endsWith: .agree)],
        look: "'1 agree': model and lock said the same from the first step to the last."),
      Step(
        "A bug without a test",
        """
        This lock has a defect: it stops answering in a session that was idle for ten minutes. The scenario above does \
        not find it. 'fuzz' draws random events, prefers what it has not seen yet, and stops at the first disagreement. \
        Then it shrinks the test, as long as it still fails.
        """,
        [
          .run(
            ["fuzz", "sesame", "--device", drowsy, "--seed", "1", "--steps", "300000"], endsWith: .divergence)
        ],
        look: """
          'shrunk to': of tens of thousands of events only these few remain. The lock is in range, the client connects, \
          waits eleven minutes, and sends a request. There is no answer.
          """),
      Step(
        "Again, with everything that happens",
        "What was found is a file now, a scenario like any other. A replay shows each event with its time.",
        [.run(["replay", "Reports/failures/*.yaml"], endsWith: .divergence)],
        look: "the last lines: what was asked at 660 s has no answer five seconds later."),
      Step(
        "The same test on a lock without the bug",
        """
        Is it the lock, or is the test wrong? The same file on a lock that has no defect says so. For a real lock this \
        line would name the new firmware.
        """,
        [.run(["replay", "Reports/failures/*.yaml", "--device", "emulator:sesame5"], endsWith: .agree)],
        look: "'model and device agree'. The file stays as a test that keeps the bug away."),
      Step(
        "The page",
        "Each run leaves a page for people, and JUnit XML for a CI system. Open this one in a browser:",
        [.page("Reports/report.html")],
        look: "model and device side by side, up to the step where they part."),
    ],
    end: "You have seen a test, a bug that was found without one, the few events that show it, and its page.",
    next: [
      ("lockstep tour own-lock", "the same with a lock that is a program of yours"),
      ("lockstep help fuzz", "everything that the search can be told"),
      ("lockstep man", "the whole manual; the page 'Your first scenario' goes on from here"),
    ])

  private static let drowsy = "emulator:sesame5?defect=answers-stop-after-idling"

  private static let openAndClose = """
    scenario: The lock opens and closes
    machine: sesame
    device: { lock: sesame5, registered: true, configured: true }
    steps:
      - closeTo
      - connect
      - until: { status: locked }
      - unlock
      - expect: { status: unlocked, within: 5 s }
      - lock
      - expect: { status: locked, within: 5 s }

    """
}
