extension Problem {
  /// What kind of problem it is, in a short word for programs. A word keeps its meaning; others may be added.
  public enum Code: String, CaseIterable, Sendable {
    /// The path leads to nothing.
    case noSuchFile = "no-such-file"
    /// The file has no line of that number.
    case noSuchLine = "no-such-line"
    /// The file or the folder cannot be read, or is neither.
    case unreadable
    /// The folder has nothing in it that is looked for.
    case emptyFolder = "empty-folder"
    /// More than is read: bytes, nodes, levels, steps.
    case tooLarge = "too-large"
    /// A byte or a character that no YAML has.
    case encoding
    /// The text is no YAML, or no DOT.
    case syntax
    /// YAML that is not used here: tags, merge keys, several documents.
    case unsupported
    /// There is nothing in the file.
    case empty
    /// An alias without its anchor.
    case unknownAlias = "unknown-alias"
    /// A key that is no text, or none at all.
    case wrongKey = "wrong-key"
    case duplicateKey = "duplicate-key"
    case missingKey = "missing-key"
    case unknownKey = "unknown-key"
    /// Keys or parts that do not go together.
    case conflict
    /// Something else was expected.
    case wrongValue = "wrong-value"
    case wrongDuration = "wrong-duration"
    /// A name that is none of those there are, and for which there is no code of its own.
    case unknownName = "unknown-name"
    case unknownStep = "unknown-step"
    case unknownStimulus = "unknown-stimulus"
    case unknownArgument = "unknown-argument"
    case unknownStatus = "unknown-status"
    case unknownEffect = "unknown-effect"
    case unknownFault = "unknown-fault"
    case unknownMachine = "unknown-machine"
    case unknownDevice = "unknown-device"
    case unknownSetting = "unknown-setting"
    case unknownState = "unknown-state"
    case unknownEvent = "unknown-event"
    case unknownCondition = "unknown-condition"
    case unknownOption = "unknown-option"
    /// What happens by itself stands where something is done.
    case spontaneous
    /// The device cannot do or show it, or does not go with the machine.
    case impossible
    /// What is said of the device is wrong.
    case wrongDevice = "wrong-device"
    /// The file of the machine is wrong: what is wrong with it is told beside this.
    case wrongMachine = "wrong-machine"
    /// A machine lacks a part: a state, an event, a start, a row.
    case missingPart = "missing-part"
    /// A name of a machine is given twice.
    case duplicateName = "duplicate-name"
    /// Two rows of a machine say what one of them should say.
    case duplicateRow = "duplicate-row"
    /// A row of a machine that cannot be meant.
    case wrongRow = "wrong-row"
    /// A state that is never reached.
    case unreachableState = "unreachable-state"
    /// A row that is never taken.
    case idleRow = "idle-row"
    /// A choice that no row asks for.
    case idleChoice = "idle-choice"
    /// A row that says what another one says.
    case repeatedRow = "repeated-row"
    /// There are more problems than are listed.
    case more

    /// That of a name of some kind, such as `status`, which is none of those there are.
    public init(unknown kind: String) { self = Code(rawValue: "unknown-" + kind) ?? .unknownName }
  }
}
