import Files

/// What can stand at the end of a command line.
///
/// All of it is worked out here, from the declarations of the commands; what a shell runs is a few lines that ask
/// `lockstep complete`, so that the shells agree with each other and with the program.
public struct Completion {
  /// A word that fits, and what it means.
  public struct Candidate: Equatable {
    public var word: String
    public var meaning = ""

    /// Makes a word.
    public init(word: String, meaning: String = "") {
      self.word = word
      self.meaning = meaning
    }
  }

  /// The words that fit.
  public private(set) var candidates: [Candidate] = []
  /// Files or folders that the shell is to offer too, behind what the word has up to its last `=` or `:`.
  public private(set) var files: ValueKind?

  private let commands: [Command]
  private let known: (_ kind: String, _ current: String) -> Offer

  /// What of a kind can stand where a word has begun.
  public struct Offer {
    /// What goes before each word in the same word of the shell, beside what stands there already.
    public var head = ""
    /// The part of the word that the others must begin with; the whole, unless given.
    public var begun: String?
    /// The words.
    public var words: [Candidate] = []
    /// What the shell is to offer too.
    public var files: ValueKind?

    /// Offers nothing, until it is told.
    public init() {}
  }

  /// Works out what fits.
  ///
  /// - Parameters:
  ///   - words: those after `lockstep`; the last is the one that is being typed, as far as it is.
  ///   - commands: those that people call.
  ///   - known: says what there is of what only the program knows; see ``ValueKind/known(_:)``.
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

  /// Offers what begins as the word does; `stem` is what stands before it in the same word of the shell.
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

  /// As the scripts of the shells read it: a line for each word, its meaning behind a tab; `:file` and `:folder` ask
  /// for files.
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

  /// The letter of an option, where it has one.
  fileprivate static func short(_ option: OptionForm) -> [Self] {
    option.short.map { [Self(word: "-\($0)", meaning: option.summary)] } ?? []
  }
}

extension Command {
  /// The option whose value comes next after a word such as `--seed` or `-qo`; `nil` where none does.
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

/// The shells that can ask what fits.
public enum Shell: String, WordChoice {
  case bash, zsh, fish

  /// What the shell must read.
  public var script: String {
    switch self {
    case .bash: EmbeddedFile.bashCompletions.text
    case .zsh: EmbeddedFile.zshCompletions.text
    case .fish: EmbeddedFile.fishCompletions.text
    }
  }
}
