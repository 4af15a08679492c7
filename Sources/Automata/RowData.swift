/// A variable of a machine.
public struct Variable: Equatable, Sendable {
  /// The unique name, and the values that it may have.
  public var form: ValueForm
  /// The expression of its value at the start of a test; `nil` if that is unknown until the device shows it.
  public var first: String?

  /// Makes a variable.
  public init(_ form: ValueForm, first: String? = nil) { (self.form, self.first) = (form, first) }

  /// The name.
  public var name: String { form.name }
}

/// A new value of a variable.
public struct Assignment: Equatable, Sendable {
  /// The variable.
  public var variable: String
  /// The expression of its value. ``unknown`` makes the value unknown.
  public var value: String

  /// The word for a value that the device chooses, or that was not observed.
  public static let unknown = "unknown"

  /// Makes an assignment.
  public init(_ variable: String, _ value: String) { (self.variable, self.value) = (variable, value) }
}

/// A reading that a row shows, with the value that is due.
public struct DueReading: Equatable, Sendable {
  /// The name of the reading, which stands among the effects of the row.
  public var reading: String
  /// The expression of its value; `nil` for any value of the reading's form.
  public var value: String?

  /// Makes a due reading.
  public init(_ reading: String, _ value: String?) { (self.reading, self.value) = (reading, value) }
}

/// What a row says about variables, named timers and readings.
///
/// All expressions of a row are evaluated with the variables as they are before it.
public struct RowData: Equatable, Sendable {
  /// The expression that must be true for the row to be taken. Of several rows of one event and one state, the first
  /// whose expression is true is taken.
  public var when: String?
  /// The new values of variables.
  public var set: [Assignment]
  /// The values of the readings among the effects of the row.
  public var due: [DueReading]
  /// The named timers that start, or start again.
  public var start: [String]
  /// The named timers that stop.
  public var stop: [String]
  /// The named timer from whose start the times of the row count, in place of the entry of the state. The row stops it,
  /// unless it starts or keeps it.
  public var timer: String?
  /// Whether that timer runs on when the row is taken.
  public var keepsTimer: Bool
  /// The expression of the earliest time, in place of a constant one.
  public var earliest: String?
  /// The expression of the latest time, in place of a constant one.
  public var latest: String?

  /// Makes the data of a row.
  public init(
    when: String? = nil, set: [Assignment] = [], due: [DueReading] = [], start: [String] = [],
    stop: [String] = [], timer: String? = nil, keepsTimer: Bool = false, earliest: String? = nil,
    latest: String? = nil
  ) {
    self.when = when
    self.set = set
    self.due = due
    self.start = start
    self.stop = stop
    self.timer = timer
    self.keepsTimer = keepsTimer
    self.earliest = earliest
    self.latest = latest
  }

  /// Whether an expression gives a time of the row.
  public var isTimed: Bool { earliest != nil || latest != nil }

  /// Whether the row says nothing about data.
  public var isEmpty: Bool { self == RowData() }
}
