public import Conformance
public import Basics

/// An application that runs in virtual time and reports what it does.
///
/// Each is written in the style of the document that it comes from, independently of the model's table.
public protocol EmulatedApp: AnyObject {
  /// The defects that it can have, by their names on the command line.
  associatedtype Defect: CaseIterable, RawRepresentable, Sendable where Defect.RawValue == String

  /// The stimuli that it accepts.
  static var stimuli: [String] { get }
  /// The start settings that it supports.
  static var settings: [String] { get }
  /// The faults that it supports.
  static var faults: [String] { get }

  /// Starts the application in a condition; what it shows meanwhile precedes the test.
  init(_ start: StartCondition, defect: Defect?, display: Display)

  /// Performs a stimulus.
  ///
  /// - Returns: why it was refused; `nil` if it was performed or silently ignored.
  /// - Throws: if it is impossible, so that there is no verdict on the application.
  func perform(_ stimulus: String, at now: Instant) throws(LabFault) -> String?

  /// Injects one of the faults, or ends it.
  func bring(about fault: Fault) throws(LabFault)

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  var deadline: Instant? { get }

  /// Fires the timers that are due.
  func advance(to now: Instant)
}

extension EmulatedApp {
  /// None, unless the application has some.
  public static var settings: [String] { [] }
  /// None, unless the application has some.
  public static var faults: [String] { [] }
  /// None, unless the application has timers.
  public var deadline: Instant? { nil }
  /// Does nothing, unless the application has faults.
  public func bring(about fault: Fault) {}
  /// Does nothing, unless the application has timers.
  public func advance(to now: Instant) {}
}

/// An emulated application as a device under test, in virtual time.
public struct AppDevice<App: EmulatedApp>: StandaloneDevice {
  /// The defects that it can have.
  public typealias Defect = App.Defect

  /// The time since the last reset.
  public private(set) var now = Instant.zero
  private let defect: Defect?
  private var display = Display()
  private var app: App
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])

  /// Makes a device, with or without a defect.
  public init(defect: Defect? = nil) {
    self.defect = defect
    app = App(StartCondition(), defect: defect, display: display)
    display.clear()
  }

  /// The application's abilities; it shows its effects.
  public var abilities: Abilities {
    var abilities = Abilities(
      stimuli: App.stimuli, faults: App.faults, settings: App.settings, showsEffects: true)
    abilities.particulars.stimulus = { _, arguments throws(LabFault) in try arguments.check(names: []) }
    abilities.particulars.fault = { fault throws(LabFault) in try fault.flag() }
    return abilities
  }

  /// Adopts the model's numbers for names.
  public mutating func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
  }

  /// Restarts the application; an unknown setting is not possible.
  public mutating func reset(to start: StartCondition) throws(LabFault) {
    for setting in start.settings where !App.settings.contains(setting.name) {
      throw LabFault(.notPossible, "this device has no setting '\(setting.name)'")
    }
    begin(start)
  }

  private mutating func begin(_ start: StartCondition) {
    now = .zero
    display = Display()
    app = App(start, defect: defect, display: display)
    display.clear()
  }

  /// Passes a stimulus to the application.
  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    if !App.stimuli.contains(name) {
      display.refuse("this device does not know '\(name)'")
    } else if let reason = try app.perform(name, at: now) {
      display.refuse(reason)
    }
  }

  /// Injects a fault; an unknown one is not possible.
  public mutating func bring(about fault: Fault) throws(LabFault) {
    guard App.faults.contains(fault.name) else {
      throw LabFault(.notPossible, "this device has no fault '\(fault.name)'")
    }
    try app.bring(about: fault)
  }

  /// Lets virtual time pass up to the next observation, or up to a limit.
  public mutating func observe(until limit: Instant) -> Observation? {
    while true {
      if let observation = display.next(in: vocabulary) { return observation }
      guard let deadline = app.deadline, deadline <= limit else {
        now = max(now, limit)
        return nil
      }
      now = max(now, deadline)
      app.advance(to: now)
    }
  }

  /// Restarts the application in the default condition.
  public mutating func restart() { begin(StartCondition()) }
}
