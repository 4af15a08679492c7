import Automata
import Conformance
import Documents
import Models

/// The names allowed in a scenario, as forms of its schema: any names, or those of a machine and its devices.
struct ScenarioNames {
  typealias Form = Documents.Form
  typealias Field = Documents.Form.Field

  /// The values of `machine`.
  var machine: Form
  /// The values of `device`, other than a mapping.
  var devices: [Form]
  /// The keys of that mapping, and the form of other keys if they are allowed.
  var deviceFields: [Field]
  var otherSettings: Form?
  /// A status.
  var status: Form
  /// An effect; `nil` if there are none.
  var effect: Form?
  /// The readings of a device, and the form of other readings if they are allowed.
  var readings: [Field]
  var otherReadings: Form?
  /// A stimulus without arguments.
  var calls: [Form]
  /// The stimuli, each with its arguments, and the form of other stimuli if they are allowed.
  var stimuli: [Field]
  var otherStimuli: Form?
  /// The values of `fault`; empty if there are none.
  var faults: [Form]
  /// The names that can have a weight.
  var weights: [Field]
  var otherWeights: Form?
}

// MARK: - Any names

extension ScenarioNames {
  /// The names of any scenario. The arguments of stimuli and the values of readings are those of the built-in
  /// machines; a machine file may use the same names with another meaning, which only the reader knows.
  static let any = ScenarioNames(
    machine: .text, devices: [.text],
    deviceFields: [
      .optional("lock", .text, "The kind of lock; emulated, unless --device names another one."),
      .optional("emulator", .text, "The name of an emulated device."),
      .optional("exec", .text, "The command of a program that is the device."),
      .optional(
        "driver", .text,
        "The command of a program that speaks the protocol of a lock over Lockstep's Bluetooth; "
          + "`peripheral` simulates the lock."),
    ], otherSettings: .oneOrMore(.value), status: .text, effect: .text,
    readings: firstOfEach(
      MachineDefinition.catalog.flatMap { machine in machine.readings.map { reading(machine, $0) } }),
    otherReadings: comparison, calls: [.text],
    stimuli: firstOfEach(
      MachineDefinition.catalog.flatMap { machine in machine.events.compactMap { stimulus(machine, $0) } }),
    otherStimuli: ScenarioGrammar.arguments, faults: [.text, .single([], others: .value)], weights: [],
    otherWeights: .value)

  private static let comparison = Form.either([
    .value, .mapping(ScenarioGrammar.comparisonKeys, others: nil),
  ])

  /// A stimulus with arguments.
  private static func stimulus(_ machine: MachineDefinition, _ event: Event) -> Field? {
    guard event.kind != .spontaneous, let forms = event.arguments?.forms, !forms.isEmpty else { return nil }
    let form = Form.either([.value, .mapping(forms.map(argument), others: .value)])
    return .optional(event.name, form, "The stimulus of `\(machine.name)`.")
  }

  private static func argument(_ form: ValueForm) -> Field {
    .optional(form.name, form.kind.form, "Here \(form.kind.expectation).")
  }

  /// A reading with its values.
  private static func reading(_ machine: MachineDefinition, _ reading: ValueForm) -> Field {
    let (kind, value) = (reading.kind, reading.kind.form)
    let same = Field.optional("is", value, "What the reading must be.")
    let keys = [same] + (kind.isNumber ? ScenarioGrammar.comparisonKeys.filter { $0.name != same.name } : [])
    let form = Form.either([value, .mapping(keys, others: nil)])
    return .optional(reading.name, form, "A reading of `\(machine.name)`: \(kind.expectation).")
  }

  private static func firstOfEach(_ fields: [Field]) -> [Field] {
    var seen = Set<String>()
    return fields.filter { seen.insert($0.name).inserted }
  }
}

// MARK: - The names of a machine

extension ScenarioNames {
  /// The names of a machine and of devices that are compared with it.
  ///
  /// - Parameters:
  ///   - devices: the devices. Without any, the device and the names that only it knows may be anything.
  ///   - isFixed: whether the scenario is only for these devices, and not for programs and locks.
  init(
    _ machine: MachineLibrary.Entry, on devices: [(spec: DeviceSpec, description: DeviceDescription)],
    isFixed: Bool
  ) {
    let definition = machine.machine.definition
    let vocabulary = Vocabulary(machine: machine.machine)
    let isOpen = devices.isEmpty
    self.machine = machine.isFile ? .text : .words([machine.label])
    status = .words(vocabulary.statuses)
    effect = vocabulary.effects.isEmpty ? nil : .words(vocabulary.effects)

    let stimuli = definition.events.filter { $0.kind != .spontaneous }
    calls = Self.words(stimuli.map(\.name))
    self.stimuli = stimuli.map {
      .optional(
        $0.name, Self.arguments(machine.machine.arguments(of: $0)), "A stimulus of `\(definition.name)`.")
    }
    otherStimuli = nil

    let known = Self.unique(devices.flatMap(\.description.readings))
    readings =
      (isOpen ? definition.readings.map(\.name) : known).map { name in
        definition.readings.first { $0.name == name }.map { Self.reading(definition, $0) }
          ?? .optional(name, Self.comparison, "A reading of the device.")
      }
    otherReadings = isOpen ? Self.comparison : nil

    let faults = Self.unique(
      isOpen
        ? definition.conditions.flatMap { [$0.name] + $0.faults }
        : devices.flatMap(\.description.abilities.faults))
    let values = faults.map { Field.optional($0, .value, "A fault.") }
    self.faults =
      Self.words(faults) + (isOpen ? [.text] : [])
      + (faults.isEmpty && !isOpen ? [] : [.single(values, others: isOpen ? .value : nil)])
    weights = Self.unique(stimuli.map(\.name) + faults).map {
      .optional($0, .number, "How often it is chosen.")
    }
    otherWeights = isOpen ? .number : nil

    let settings = devices.map(\.description.abilities.settings)
    let flags = definition.starts.flatMap { $0.conditions.map(\.name) }
    let options = devices.flatMap(\.description.options)
    let conditions = Self.unique(flags + settings.flatMap { $0 ?? [] }).filter { !options.contains($0) }
    deviceFields =
      (isOpen ? Self.any.deviceFields : Self.deviceFields(devices.map(\.spec), isFixed: isFixed))
      + conditions.map {
        .optional(
          $0, flags.contains($0) ? ScenarioGrammar.flag : .value, "A setting in which the test starts.")
      } + Self.unique(options).map { .optional($0, .oneOrMore(.value), "An option of the device.") }
    otherSettings = isOpen || settings.contains(nil) ? .oneOrMore(.value) : nil
    self.devices = isOpen ? Self.any.devices : Self.texts(devices.map(\.spec), isFixed: isFixed)
  }

  /// The form of one of several names; empty if there are none.
  private static func words(_ names: [String]) -> [Form] { names.isEmpty ? [] : [.words(names)] }

  private static func unique(_ names: [String]) -> [String] {
    var seen = Set<String>()
    return names.filter { seen.insert($0).inserted }
  }

  /// The arguments of a stimulus, if they are known.
  private static func arguments(_ forms: ArgumentForms?) -> Form {
    guard let forms else { return ScenarioGrammar.arguments }
    let fields = forms.forms.map(argument)
    let mapping =
      forms.isAlternative ? Form.single(fields, others: nil) : .mapping(fields, others: nil)
    return forms.forms.count == 1 ? .either([forms.forms[0].kind.form, mapping]) : mapping
  }

  /// The keys that name one of the devices, or any other one.
  private static func deviceFields(_ specs: [DeviceSpec], isFixed: Bool) -> [Field] {
    ScenarioNames.any.deviceFields.compactMap { field in
      var field = field
      let isProgram = ["exec", "driver"].contains(field.name)
      let emulators = isProgram ? [] : words(specs.filter { $0.kind == .emulator }.map(\.name))
      let others: [Form] =
        switch field.name {
        // Text that looks like a path is the file of a lock.
        case "lock" where !isFixed || specs.contains { $0.kind == .lock }: [.pattern("[/.]")]
        case "exec" where !isFixed || specs.contains { $0.kind == .exec }: [.text]
        case "driver" where !isFixed || specs.contains { $0.kind == .driver }: [.text]
        default: []
        }
      guard !(emulators + others).isEmpty else { return nil }
      field.form = .either(emulators + others)
      return field
    }
  }

  /// One of the devices, or any other one, as text.
  private static func texts(_ specs: [DeviceSpec], isFixed: Bool) -> [Form] {
    let emulators = specs.filter { $0.kind == .emulator }.map(\.name)
    let kinds = DeviceSpec.Kind.allCases.filter { kind in
      kind != .emulator && (!isFixed || specs.contains { $0.kind == kind })
    }
    return
      (emulators.isEmpty
      ? []
      : [
        .words(emulators + emulators.map { "emulator:\($0)" }),
        .pattern("^(emulator:)?(\(emulators.joined(separator: "|")))[?]"),
      ]) + kinds.map { .pattern("^\($0.rawValue):.") }
  }
}

extension Machine {
  /// Whether the machine is built in, so that its stimuli take only declared arguments; those of a file may
  /// take any.
  var isBuiltIn: Bool { MachineDefinition.named(name) == definition }

  /// The arguments of a stimulus; `nil` if they are unknown.
  func arguments(of event: Event) -> ArgumentForms? {
    event.arguments ?? (isBuiltIn ? ArgumentForms.none : nil)
  }
}

extension ValueForm.Kind {
  /// The form in a schema.
  fileprivate var form: ScenarioGrammar.Form {
    switch self {
    case .text: .text
    case .hexadecimal: .pattern("^([0-9A-Fa-f]{2})*$")
    case .flag: ScenarioGrammar.flag
    case .wholeNumber(let range): .wholeNumber(range)
    case .number: .number
    case .duration: .duration
    case .choice(let words): .words(words)
    case .instant: .number
    case .list(let element, let capacity): .list(element.form, count: 0...capacity)
    case .map(_, let value, _): .mapping([], others: value.form)
    case .record(let fields): .mapping(fields.map { .optional($0.name, $0.kind.form, "") }, others: nil)
    }
  }
}
