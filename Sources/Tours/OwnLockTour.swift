import Journal

extension GuidedTour {
  /// The tour that breaks and repairs a lock implemented as a program.
  static let ownLock = GuidedTour(
    name: "own-lock", title: "A lock of your own as a program: you break it, it is found, you mend it.",
    beginning: """
      Your lock can be any program: it reads what is done to it and answers with what it shows, a line of JSON each. This \
      tour makes one in Python, breaks a line of it, and has Lockstep find out.
      """,
    programs: ["python3"],
    steps: [
      Step(
        "A project",
        """
        'new' lays out a folder: a machine, which says what the lock may do, a program, which is the lock, and some \
        scenarios.
        """,
        [.run(["new", "keypad", "--kind", "exec"], endsWith: .agree), .enter("keypad")],
        look: """
          keypad.yaml is the machine, device.py the lock: a door with a keypad for two users. It locks by itself five \
          seconds after the right code, accepts no code for a while after three wrong ones, and keeps a log.
          """),
      Step(
        "It works",
        "The scenarios of the project, and then five thousand random events:",
        [
          .run(["run", "scenarios"], endsWith: .agree),
          .run(
            ["fuzz", "keypad.yaml", "--device", program, "--steps", "5000", "--seed", "1"], endsWith: .agree),
        ],
        look:
          "'8 of 8 transitions covered': everything that the machine allows was tried, and nothing was wrong."
      ),
      Step(
        "Break it",
        """
        Now the lock gets a bug: its log says of a wrong code that it opened the door. The tour changes the line when you \
        go on. Or \
        break something yourself: first open keypad/device.py of the tour's folder in an editor, change what you like, and \
        save it.
        """,
        [.keep("device.py", as: "good.py"), .change("device.py", from: "\"refused\"", to: "\"opened\"")]),
      Step(
        "It is found",
        "The same search as before, on the lock with the bug:",
        [
          .run(
            ["fuzz", "keypad.yaml", "--device", program, "--steps", "5000", "--seed", "1"],
            endsWith: .divergence)
        ],
        look: """
          the first line says what is wrong in the log, and since when. 'after', 'model' and 'device': what was done \
          last, what the machine allows then, and what the lock did. Below stand the few events that show it.
          """),
      Step(
        "Mend it",
        "The good program is put back. Do it yourself in your editor, or go on and the tour does it.",
        [.restore("device.py", from: "good.py")]),
      Step(
        "It stays mended",
        "What was found is a scenario now. It is run with the others from here on, and fails if the bug comes back.",
        [.run(["run", "Reports/failures", "scenarios"], endsWith: .agree)],
        look: "all agree, including the generated test. The page is Reports/report.html."),
    ],
    end: "You have a project: from here keypad.yaml says what your lock may do, and device.py is your lock.",
    next: [
      ("lockstep help new", "a project for a lock with Bluetooth; page 'Your own lock'"),
      ("lockstep schema machine", "what stands in a machine file; page 'Machine files'"),
      ("lockstep tour night", "many locks, unattended"),
    ])

  private static let program = "exec:python3 device.py"
}
