public import Basics
public import Journal
import Synchronization
public import System

/// Shows the progress of a run, reports slow cases, and answers SIGUSR1.
///
/// The run passes its records; a thread of its own does the rest, since a real lock may be silent for long.
public final class RunWatch: JournalListener, CaseObserver, Sendable {
  /// The display on standard error.
  public enum Display: Sendable {
    /// A line at the bottom of the terminal.
    case bar
    /// A line from time to time, and one at each tenth of the cases if requested.
    case counter(atTenths: Bool)
    case nothing
  }

  /// The settings of the display.
  public struct Settings: Sendable {
    public var display = Display.nothing
    /// After how long a case is reported as slow; `nil` for never.
    public var slow: Interval?
    public var paint = Painter(isOn: false)

    /// Makes settings, without a display by default.
    public init(
      display: Display = Display.nothing, slow: Interval? = nil, paint: Painter = Painter(isOn: false)
    ) {
      self.display = display
      self.slow = slow
      self.paint = paint
    }
  }

  /// The interval between lines of a log.
  private static let period = Interval.seconds(10)

  fileprivate struct State {
    var position: RunPosition
    var isOver = false
    var lastLine: Interval
    var lastTenth = 0
  }

  private let settings: Settings
  private let line: StatusLine
  private let state: Mutex<State>

  public init(total: Int?, _ settings: Settings, _ line: StatusLine) {
    self.settings = settings
    self.line = line
    let now = MonotonicClock.now
    state = Mutex(State(position: RunPosition(total: total, begin: now), lastLine: now))
  }

  /// Begins to watch.
  public func start() {
    inBackground { [self] in
      while !state.withLock({ $0.isOver }) {
        let isAsked = StatusSignal.wait(for: .milliseconds(100))
        tick(isAsked: isAsked)
      }
    }
  }

  /// Ends the display.
  public func finish() {
    state.withLock { $0.isOver = true }
    line.show("")
  }

  public func take(_ record: Record) {
    let now = MonotonicClock.now
    let tenth = state.withLock { state -> String? in
      state.position.take(record)
      guard case .verdict = record, case .counter(atTenths: true) = settings.display,
        let total = state.position.total, state.position.done * 10 / total > state.lastTenth
      else { return nil }
      state.lastTenth = state.position.done * 10 / total
      state.lastLine = now
      return state.position.line(at: now, settings.paint)
    }
    if let tenth { line.say(tenth) }
  }

  public func see(_ record: Record, of place: Int) {
    let now = MonotonicClock.now
    state.withLock { $0.position.see(record, of: place, at: now) }
  }

  private func tick(isAsked: Bool) {
    let now = MonotonicClock.now
    let columns = line.columns
    // Messages are printed before the run can end, and in order.
    state.withLock { state in
      guard !state.isOver else { return }
      state.position.isStopping = Interruption.isRequested
      if isAsked { line.say(state.position.answer(at: now)) }
      if let slow = settings.slow {
        for notice in state.position.notices(at: now, after: slow) {
          line.say(settings.paint(.warning, notice))
        }
      }
      switch settings.display {
      case .bar: line.show(state.position.bar(at: now, columns: columns, settings.paint))
      case .counter:
        guard now - state.lastLine >= Self.period else { return }
        state.lastLine = now
        line.say(state.position.line(at: now, settings.paint))
      case .nothing: break
      }
    }
  }
}
