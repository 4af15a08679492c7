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
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  // Bash breaks a word at '=' and ':' and puts an answer in place of the last piece; we go by whole words.
  private static let bashScript = #"""
    # Completions of lockstep for bash. For good: lockstep completions bash > ~/.local/share/bash-completion/completions/lockstep
    _lockstep() {
      local IFS=$'\n' rest=${COMP_LINE:0:COMP_POINT} words=() piece word stem= line i
      for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        if [[ $i -eq 0 || $rest == [[:space:]]* ]]; then
          rest=${rest#"${rest%%[![:space:]]*}"}
          words+=('')
        fi
        ((i < COMP_CWORD)) || piece=$rest
        words[${#words[@]}-1]+=$piece
        rest=${rest#"$piece"}
      done
      for i in "${!words[@]}"; do
        case ${words[i]} in
          \'* | \"*) words[i]=${words[i]:1} words[i]=${words[i]%[\'\"]} piece= ;;
        esac
      done
      word=${words[${#words[@]}-1]}
      # What Bash has before the last piece; within quotes it has the whole word.
      [[ ${COMP_WORDS[COMP_CWORD]} == [\'\"]* || $word != *[=:]* ]] || stem=${word%"${word##*[=:]}"}
      COMPREPLY=()
      while read -r line; do
        case $line in
          :file) COMPREPLY+=($(compgen -f -- "${word##*[=:]}")); compopt -o filenames ;;
          :folder) COMPREPLY+=($(compgen -d -- "${word##*[=:]}")); compopt -o filenames ;;
          *)
            line=${line%%$'\t'*}
            [[ $line != *[=:] ]] || compopt -o nospace
            COMPREPLY+=("${line#"$stem"}")
            ;;
        esac
      done < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1}" 2>/dev/null)
    }
    complete -F _lockstep lockstep

    """#

  private static let zshScript = #"""
    #compdef lockstep
    # Completions of lockstep for zsh. For good: lockstep completions zsh > a folder of $fpath, as _lockstep
    _lockstep() {
      local -a plain open plain_texts open_texts
      local line word text
      local program=${~${(Q)words[1]}}
      for line in "${(@f)$($program complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        case $line in
          '') ;;
          :file) compset -P '*[=:]'; _files ;;
          :folder) compset -P '*[=:]'; _files -/ ;;
          *)
            word=${line%%$'\t'*}
            text=${line#*$'\t'}
            [[ $text == $word ]] || text="$word  $text"
            if [[ $word == *[=:] ]]; then
              open+=("$word") open_texts+=("$text")
            else
              plain+=("$word") plain_texts+=("$text")
            fi
            ;;
        esac
      done
      (( ! $#plain )) || compadd -l -d plain_texts -- "${plain[@]}"
      (( ! $#open )) || compadd -l -S '' -d open_texts -- "${open[@]}"
    }
    if [[ ${funcstack[1]} == _lockstep ]]; then _lockstep "$@"; else compdef _lockstep lockstep; fi

    """#

  private static let fishScript = #"""
    # Completions of lockstep for fish. For good: lockstep completions fish > ~/.config/fish/completions/lockstep.fish
    function __lockstep_complete
      set -l words (commandline -opc)
      set -l word (commandline -ct)
      set -l stem (string match -r '^.*[=:]' -- $word)
      for line in ($words[1] complete -- $words[2..] "$word" 2>/dev/null)
        switch $line
          case ':file'
            printf '%s\n' "$stem"(__fish_complete_path (string replace -r '^.*[=:]' '' -- "$word"))
          case ':folder'
            printf '%s\n' "$stem"(__fish_complete_directories (string replace -r '^.*[=:]' '' -- "$word"))
          case '*'
            printf '%s\n' $line
        end
      end
    end
    complete -c lockstep -f -a '(__lockstep_complete)'

    """#
}
