import Basics
public import Journal
public import System

/// Leads a user through a tour: introduces each step, waits, performs it as the user would, and explains the
/// result.
public struct TourGuide {
  /// The file that marks a folder as one that tours may overwrite; the current tour holds a lock on it.
  static let mark = ".lockstep-tour"
  /// The width of the text in columns.
  static let width = 78

  private let tour: GuidedTour
  /// The folder of all tours, and the folder of this tour.
  private let root: String
  private var folder: String
  private let console: Console
  private let paint: Painter
  /// The user's input; `nil` if the tour does not wait for the user.
  private var person: InputLines?
  /// The tour must behave as described, regardless of settings files in parent folders.
  private var variables = ["LOCKSTEP_CONFIG=none"]

  /// Creates a guide for a tour.
  ///
  /// - Parameters:
  ///   - root: the folder in which the tour creates its own folder.
  ///   - isUnattended: whether the tour continues without waiting, as it also does without a terminal.
  public init(_ tour: GuidedTour, in root: String, isUnattended: Bool, _ console: Console) {
    (self.tour, self.root, self.console) = (tour, root, console)
    folder = Path.join(root, tour.name)
    paint = console.painter(.auto)
    person = isUnattended || !InputLines.isTerminal ? nil : InputLines()
  }

  /// Why a tour stops early.
  private enum Stop: Error {
    /// The user ended the tour.
    case quit
    /// A signal was received, or the output is closed.
    case isInterrupted
    /// An action did not have the expected result; the message and the exit status.
    case trouble(String, CommandStatus)
  }

  /// Leads through the whole tour.
  ///
  /// - Throws: an error if the requested folder cannot be used.
  public mutating func lead() throws(UsageError) -> CommandStatus {
    try checkRoot()
    let hold: HeldFile
    do throws(Stop) {
      hold = try lockRoot()
    } catch {
      return say(error)
    }
    return withExtendedLifetime(hold) {
      do throws(Stop) {
        try show()
      } catch {
        let status = say(error)
        printKeptFolder()
        return status
      }
      printKeptFolder()
      printNextSteps()
      return .agree
    }
  }

  private func say(_ stop: Stop) -> CommandStatus {
    switch stop {
    case .quit: return .agree
    case .isInterrupted:
      console.say("lockstep: the tour was stopped")
      return .incomplete
    case .trouble(let words, let status):
      console.say("lockstep: \(words)")
      return status
    }
  }
}

extension TourGuide {
  /// Throws unless the folder is missing, empty, or created by a tour: user files must not be overwritten.
  private func checkRoot() throws(UsageError) {
    let trouble: String
    switch fileKind(root) {
    case .missing, .unknown: return
    case .folder:
      guard let names = FolderNames.all(in: root) else { return }
      if names.isEmpty || names.contains(Self.mark) { return }
      trouble = "is no folder of a tour, and not empty"
    case .file, .other: trouble = "is no folder"
    }
    throw UsageError("\(root) \(trouble): nothing is overwritten; --in names another one")
  }

  /// Creates the folder of all tours, and locks it against other tours.
  private func lockRoot() throws(Stop) -> HeldFile {
    let hold: HeldFile?
    do {
      try makeFolder(root)
      hold = try HeldFile(Path.join(root, Self.mark))
    } catch {
      throw .trouble("\(error)", .labFault)
    }
    guard let hold else {
      throw .trouble("another tour goes on in \(root); --in names another folder", .usage)
    }
    for program in tour.programs where !isThere(program) {
      throw .trouble("this tour needs \(program), and there is none on the PATH", .labFault)
    }
    return hold
  }

  private func isThere(_ program: String) -> Bool {
    (Host.variable("PATH") ?? "").split(separator: ":").contains {
      Host.isFile(Path.join(String($0), program))
    }
  }

  /// Creates the folder of this tour with its files. Moves the folder of an earlier tour aside, because the user
  /// may have changed its files.
  private func layOut() throws(Stop) {
    do {
      if FolderNames.kind(folder) != .missing {
        var number = 1
        while try !rename(folder, to: "\(folder)-\(number)") { number += 1 }
        say("What an earlier tour left is in \(folder)-\(number) now.")
      }
      try makeFolder(folder)
      for file in tour.files {
        let path = Path.join(folder, file.name)
        try makeFolder(Path.folder(of: path))
        try WholeFile.replace(path, with: file.text)
      }
    } catch {
      throw .trouble("\(error)", .labFault)
    }
  }
}

extension TourGuide {
  private mutating func show() throws(Stop) {
    printHead(tour.title)
    say(tour.beginning)
    let isThere = FolderNames.kind(folder) != .missing
    say(
      "It works in \(folder) and nowhere else"
        + (isThere ? "; what an earlier tour left there is moved aside first." : "."))
    if !self.isThere("lockstep"), let program = Host.program {
      say("There is no 'lockstep' on your PATH. To type a command yourself, write \(program) in its place.")
    }
    try pause("Enter begins")
    try layOut()
    for (index, step) in tour.steps.enumerated() {
      printHead("\(index + 1) of \(tour.steps.count): \(step.title)")
      say(step.text)
      if index == 0 { printCommand("cd \(shellWord(folder))") }
      for action in step.actions { try perform(action) }
      if !step.look.isEmpty { say("Look: " + step.look) }
      if !step.actions.contains(where: \.isWaitedFor) { try pause("Enter goes on") }
    }
    say(tour.end)
  }

  private mutating func perform(_ action: GuidedTour.Action) throws(Stop) {
    switch action {
    case .run(let words, let status): try run(words, endsWith: status)
    case .enter(let name):
      folder = Path.join(folder, name)
      printCommand("cd \(name)")
    case .show(let file):
      printCommand("cat \(file)")
      console.print(try text(of: file) + "\n")
    case .keep(let file, let name):
      printCommand("cp \(file) \(name)")
      try write(try text(of: file), to: name)
    case .restore(let file, let name):
      printCommand("cp \(name) \(file)")
      let good = try text(of: name)
      try change(file) { _ in good }
    case .change(let file, let old, let new):
      printCommand("sed -i \(shellWord("s/\(old)/\(new)/")) \(file)")
      try change(file) { $0.replacing(old, with: new) }
    case .keepState(let name):
      printCommand("export XDG_STATE_HOME=\"$PWD/\(name)\"")
      variables.append("XDG_STATE_HOME=\(Path.join(Path.join(Host.folder, folder), name))")
    case .page(let file):
      guard Host.isFile(Path.join(folder, file)) else {
        throw .trouble(
          "the page \(Path.join(folder, file)) is not there: the tour stops here", .internalFault)
      }
      console.print("  \(Path.join(Path.join(Host.folder, folder), file))\n\n")
    }
  }

  private mutating func run(_ words: [String], endsWith expected: CommandStatus) throws(Stop) {
    let words = try words.map { word throws(Stop) in word.contains("*") ? try file(like: word) : word }
    printCommand((["lockstep"] + words).map(shellWord).joined(separator: " "))
    try pause("Enter runs it")
    let ending: Ending
    do throws(ProcessFault) {
      ending = try VisibleProcess.run(words, in: folder, adding: variables)
    } catch {
      throw .trouble("\(error)", .labFault)
    }
    if Interruption.isRequested { throw .isInterrupted }
    console.print("\n")
    guard ending != .exit(expected.rawValue) else { return }
    guard case .exit(let status) = ending else {
      throw .trouble("the command ended with \(ending): the tour stops here", .labFault)
    }
    let trouble = "the command ended with status \(status), and not with \(expected.rawValue) as it should"
    throw .trouble(
      trouble + ": the tour stops here",
      status == 0 ? .divergence : CommandStatus(rawValue: status) ?? .labFault)
  }

  /// Returns the last file that matches a pattern with `*`, relative to the tour's folder.
  private func file(like pattern: String) throws(Stop) -> String {
    var found = [""]
    for part in pattern.split(separator: "/") {
      found = found.flatMap { path in
        (folderEntries(Path.join(folder, path)) ?? [])
          .filter { matches($0[...], part) }.map { path.isEmpty ? $0 : "\(path)/\($0)" }
      }
    }
    guard let last = found.last else {
      throw .trouble("there is no \(Path.join(folder, pattern)): the tour stops here", .internalFault)
    }
    return last
  }

  /// Returns whether a name matches a pattern, in which `*` stands for any text.
  private func matches(_ name: Substring, _ pattern: Substring) -> Bool {
    guard let star = pattern.firstIndex(of: "*") else { return name == pattern }
    let (head, tail) = (pattern[..<star], pattern[pattern.index(after: star)...])
    guard name.hasPrefix(head) else { return false }
    let rest = name.dropFirst(head.count)
    return (0...rest.count).contains { matches(rest.dropFirst($0), tail) }
  }
}

extension TourGuide {
  /// Rewrites a file, unless the user has changed it in the meantime.
  private mutating func change(_ file: String, _ body: (String) -> String) throws(Stop) {
    let before = try text(of: file)
    try pause("Enter does it")
    guard try text(of: file) == before else { return say("You have changed \(file): so it stays.") }
    try write(body(before), to: file)
    console.print("\n")
  }

  private func text(of file: String) throws(Stop) -> String {
    do {
      return String(decoding: try WholeFile.bytes(of: Path.join(folder, file)), as: UTF8.self)
    } catch {
      throw .trouble("\(error)", .labFault)
    }
  }

  private func write(_ text: String, to file: String) throws(Stop) {
    do {
      try WholeFile.replace(Path.join(folder, file), with: text)
    } catch {
      throw .trouble("\(error)", .labFault)
    }
  }

  /// Waits for Enter if there is a user.
  private mutating func pause(_ what: String) throws(Stop) {
    if Interruption.isRequested || console.isBroken { throw .isInterrupted }
    guard person != nil else { return }
    console.say("[\(what); q and Enter end the tour]")
    while true {
      if Interruption.isRequested { throw .isInterrupted }
      switch person?.next() {
      case .line(let line):
        guard ["q", "Q"].contains(line.drop { $0 == " " }.first) else { return }
        throw .quit
      case .tooLong: continue
      case .end: throw .quit
      case nil: Waiting.wait(for: person?.descriptors ?? [], until: Waiting.now + .milliseconds(200))
      }
    }
  }
}

extension TourGuide {
  private func printHead(_ text: String) {
    let line = "-- \(text) "
    console.print(paint(.strong, line + String(repeating: "-", count: max(0, Self.width - line.count))))
    console.print("\n")
  }

  private func say(_ text: String) {
    console.print(wrapped(text, to: Self.width).joined(separator: "\n") + "\n\n")
  }

  private func printCommand(_ line: String) { console.print(paint(.strong, "$ " + line)) }

  private func printKeptFolder() {
    say("What the tour made is in \(root). This removes it:")
    console.print(
      "  \(paint(.strong, "rm -r " + shellWord(root.hasPrefix("-") ? "./" + root : root)))\n\n")
  }

  private func printNextSteps() {
    say("What next:")
    for (command, what) in tour.next { console.print("  \(paint(.strong, command))\n      \(what)") }
  }
}

extension GuidedTour.Action {
  /// Whether the guide waits for the user before this action.
  fileprivate var isWaitedFor: Bool {
    switch self {
    case .run, .change, .restore: true
    case .enter, .show, .keep, .keepState, .page: false
    }
  }
}
