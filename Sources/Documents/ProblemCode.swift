extension Problem {
  /// The code of a problem, a short word for programs. A code keeps its meaning; codes may be added.
  public enum Code: String, CaseIterable, Sendable {
    /// The path does not exist.
    case noSuchFile = "no-such-file"
    /// The file has no line with that number.
    case noSuchLine = "no-such-line"
    /// The file or the folder is not readable, or the path is neither.
    case unreadable
    /// The folder contains nothing of the expected kind.
    case emptyFolder = "empty-folder"
    /// A limit is exceeded: bytes, nodes, levels, steps.
    case tooLarge = "too-large"
    /// A byte or a character that is not valid in YAML.
    case encoding
    /// The text is not valid YAML, DOT or XML.
    case syntax
    /// A feature of YAML that is not supported: tags, merge keys, several documents.
    case unsupported
    /// The file is empty.
    case empty
    /// An alias without its anchor.
    case unknownAlias = "unknown-alias"
    /// A key that is not text, or that is missing.
    case wrongKey = "wrong-key"
    case duplicateKey = "duplicate-key"
    case missingKey = "missing-key"
    case unknownKey = "unknown-key"
    /// Keys or parts that exclude each other.
    case conflict
    /// Something else was expected.
    case wrongValue = "wrong-value"
    case wrongDuration = "wrong-duration"
    /// A name that does not exist and whose kind has no code of its own.
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
    case unknownVariable = "unknown-variable"
    case unknownReading = "unknown-reading"
    case unknownTimer = "unknown-timer"
    /// An expression with a fault, or a variable that expressions cannot use.
    case wrongExpression = "wrong-expression"
    /// A spontaneous event is used as a stimulus.
    case spontaneous
    /// The device does not support it, or does not match the machine.
    case impossible
    /// The description of the device is wrong.
    case wrongDevice = "wrong-device"
    /// The file of the machine is wrong; related problems give the details.
    case wrongMachine = "wrong-machine"
    /// A machine lacks a part: a state, an event, a start, a row.
    case missingPart = "missing-part"
    /// A name of a machine occurs twice.
    case duplicateName = "duplicate-name"
    /// Two rows of a machine cover the same case.
    case duplicateRow = "duplicate-row"
    /// A row of a machine that contradicts itself or a rule.
    case wrongRow = "wrong-row"
    /// A state that is never reached.
    case unreachableState = "unreachable-state"
    /// A row that is never taken.
    case idleRow = "idle-row"
    /// A choice that no row uses.
    case idleChoice = "idle-choice"
    /// A row that repeats another one.
    case repeatedRow = "repeated-row"
    /// An event of a state chart that is sent again while it may be pending.
    case repeatedTimer = "repeated-timer"
    /// There are more problems than are listed.
    case more

    /// Makes the code of an unknown name of some kind, such as `status`.
    public init(unknown kind: String) { self = Code(rawValue: "unknown-" + kind) ?? .unknownName }
  }
}
