import Files

/// The possible completions of a command line.
///
/// They are derived here from the declarations of the commands. The shell scripts only call `lockstep complete`, so
/// that all shells agree with each other and with the program.
public struct Completion {
  /// A possible word, with its meaning.
  public struct Candidate: Equatable {
    public var word: String
    public var meaning = ""

    /// Creates a candidate.
    public init(word: String, meaning: String = "") {
      self.word = word
      self.meaning = meaning
    }
  }

  /// The possible words.
  public private(set) var candidates: [Candidate] = []
  /// The kind of files that the shell should also offer, after the part of the word up to its last `=` or `:`.
  public private(set) var files: ValueKind?

  private let commands: [Command]
  private let known: (_ kind: String, _ current: String) -> Offer

  /// The values of a kind that can complete the current word.
  public struct Offer {
    /// The text before each word within the same shell word, after the existing text.
    public var head = ""
    /// The part of the current word that the candidates must begin with; by default the whole word.
    public var begun: String?
    /// The candidates.
    public var words: [Candidate] = []
    /// The kind of files that the shell should also offer.
    public var files: ValueKind?

    /// Creates an empty offer.
    public init() {}
  }

  /// Determines the completions.
  ///
  /// - Parameters:
  ///   - words: the words after `lockstep`; the last one is incomplete.
  ///   - commands: the commands for users.
  ///   - known: returns the values that only the program knows; see ``ValueKind/known(_:)``.
  public init(
    _ words: [String], of commands: [Command],
    knowing known: @escaping (_ kind: String, _ current: String) -> Offer
  ) {
    (self.commands, self.known) = (commands, known)
    let current = words.last ?? ""
    let before = words.dropLast()
    guard let first = before.first else {
      offer(commands.map { Candidate(word: $0.name, meaning: $0.summary) }, current)
      offer([Candidate(word: "help", meaning: "Says more of a command.")], current)
      if current.hasPrefix("-") { offer(["--help", "--version"].map { Candidate(word: $0) }, current) }
      return
    }
    if first == "help" {
      if before.count == 1 { offer(.command, current, "") }
      if before.count == 2, let command = commands.first(where: { $0.name == before[1] }) {
        offer(command.options.map(Candidate.init), current)
      }
      return
    }
    guard let command = commands.first(where: { $0.name == first }) else { return }
    complete(current, after: before.dropFirst(), of: command)
  }

  private mutating func complete(_ current: String, after words: ArraySlice<String>, of command: Command) {
    var operands = 0
    var pending: OptionForm?
    var isOver = false
    for word in words {
      if isOver || pending == nil && (!word.hasPrefix("-") || word == "-") {
        operands += 1
      } else if pending != nil, !word.hasPrefix("--") {
        pending = nil
      } else if word == "--" {
        isOver = true
      } else {
        pending = command.awaited(after: word)
      }
    }
    if isOver { return offer(operand: operands, current, of: command) }
    if let pending, !current.hasPrefix("--") { return offer(pending.kind, current, "") }
    if current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
      let name = current[..<equals].dropFirst(2)
      guard let option = command.options.first(where: { $0.name == name && $0.placeholder != nil }) else {
        return
      }
      return offer(option.kind, String(current[current.index(after: equals)...]), String(current[...equals]))
    }
    if current.hasPrefix("-") {
      return offer(command.options.flatMap { [Candidate($0)] + Candidate.short($0) }, current)
    }
    offer(operand: operands, current, of: command)
  }

  private mutating func offer(operand index: Int, _ current: String, of command: Command) {
    guard let operands = command.operands, index < operands.count.upperBound,
      let last = operands.kinds.last
    else { return }
    offer(index < operands.kinds.count ? operands.kinds[index] : last, current, "")
  }

  /// Offers the candidates with the current prefix; `stem` precedes them within the same shell word.
  private mutating func offer(_ all: [Candidate], _ current: String, _ stem: String = "") {
    candidates += all.filter { $0.word.hasPrefix(current) }.map {
      Candidate(word: stem + $0.word, meaning: $0.meaning)
    }
  }

  private mutating func offer(_ kind: ValueKind, _ current: String, _ stem: String) {
    switch kind {
    case .text, .words: break
    case .choice(let words): offer(words.map { Candidate(word: $0) }, current, stem)
    case .command: offer(commands.map { Candidate(word: $0.name, meaning: $0.summary) }, current, stem)
    case .file, .folder: files = kind
    case .known(let name):
      let offer = known(name, current)
      if let files = offer.files { self.files = files }
      self.offer(offer.words, offer.begun ?? current, stem + offer.head)
    }
  }

  /// The format that the shell scripts read: one line per word, with its meaning after a tab; `:file` and `:folder`
  /// request files.
  public var text: String {
    var lines = candidates.map { $0.word + ($0.meaning.isEmpty ? "" : "\t" + $0.meaning) }
    switch files {
    case .folder: lines.append(":folder")
    case .file: lines.append(":file")
    case .text, .choice, .command, .known, .words, nil: break
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension Completion.Candidate {
  fileprivate init(_ option: OptionForm) {
    word = "--" + option.name
    meaning = option.summary
  }

  /// The short form of an option, if it has one.
  fileprivate static func short(_ option: OptionForm) -> [Self] {
    option.short.map { [Self(word: "-\($0)", meaning: option.summary)] } ?? []
  }
}

extension Command {
  /// Returns the option that expects a value after a word such as `--seed` or `-qo`; `nil` if none does.
  fileprivate func awaited(after word: String) -> OptionForm? {
    if word.hasPrefix("--") {
      return options.first { "--" + $0.name == word && $0.placeholder != nil }
    }
    let letters = word.dropFirst()
    guard
      let index = letters.firstIndex(where: { letter in
        options.contains { $0.short == letter && $0.placeholder != nil }
      }), letters.index(after: index) == letters.endIndex
    else { return nil }
    return options.first { $0.short == letters[index] }
  }
}

/// The shells with completion scripts.
public enum Shell: String, WordChoice {
  case bash, zsh, fish

  /// The script that the shell must load.
  public var script: String {
    switch self {
    case .bash: EmbeddedFile.bashCompletions.text
    case .zsh: EmbeddedFile.zshCompletions.text
    case .fish: EmbeddedFile.fishCompletions.text
    }
  }
}
