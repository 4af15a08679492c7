public import Journal
public import System

/// Prints verdicts, cells and the end as JSON, one object a line.
public final class JSONReport: JournalListener {
  private let console: Console
  private let isQuiet: Bool
  /// With 2, every line of the journal is printed.
  private let verbosity: Int

  public init(_ console: Console, isQuiet: Bool, verbosity: Int = 0) {
    self.console = console
    self.isQuiet = isQuiet
    self.verbosity = verbosity
  }

  public func take(_ record: Record) {
    let isShown =
      switch record {
      case .verdict(let verdict): !isQuiet || verdict.message != nil
      case .event(let event): event.isDiagnostic
      case .left: true
      case .finding, .campaign, .coverage, .end: !isQuiet
      case .run, .begin, .machine: false
      }
    if isShown || verbosity > 1 { console.print(record.json()) }
  }
}

/// Passes a journal on to several listeners.
public final class Listeners: JournalListener {
  private let all: [any JournalListener]

  public init(_ all: [any JournalListener]) {
    self.all = all
  }

  public func take(_ record: Record) {
    for listener in all { listener.take(record) }
  }

  public func take(_ time: CaseTime) {
    for listener in all { listener.take(time) }
  }
}
