public import Basics
public import Journal
import Synchronization
public import System

/// Shows how far a run is while it goes on, says which case is slow, and answers who asks by SIGUSR1.
///
/// The run tells it what happens; all else is done by a thread of its own, since a real lock may say nothing for long.
public final class RunWatch: JournalListener, Sendable {
  /// What is shown on standard error.
  public enum Display: Sendable {
    /// A line at the bottom of the terminal.
    case bar
    /// A line now and then, and one at each tenth of the cases where that was asked for.
    case counter(atTenths: Bool)
    case nothing
  }

  /// How it shows things.
  public struct Settings: Sendable {
    public var display = Display.nothing
    /// After how long a case is said to be slow; `nil` for never.
    public var slow: Interval?
    public var paint = Painter(isOn: false)

    /// Shows nothing, until it is told.
    public init(
      display: Display = Display.nothing, slow: Interval? = nil, paint: Painter = Painter(isOn: false)
    ) {
      self.display = display
      self.slow = slow
      self.paint = paint
    }
  }

  /// How often a log gets a line.
  private static let period = Interval.seconds(10)

  fileprivate struct State {
    var position: RunPosition
    var isOver = false
    var lastLine: Interval
    var lastTenth = 0
    /// How often the running case was said to be slow.
    var notices: Int64 = 0
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

  /// Ends it; nothing is shown from then on.
  public func finish() {
    state.withLock { $0.isOver = true }
    line.show("")
  }

  public func take(_ record: Record) {
    let now = MonotonicClock.now
    let tenth = state.withLock { state -> String? in
      state.position.take(record, at: now)
      if case .begin = record { state.notices = 0 }
      guard case .verdict = record, case .counter(atTenths: true) = settings.display,
        let total = state.position.total, state.position.done * 10 / total > state.lastTenth
      else { return nil }
      state.lastTenth = state.position.done * 10 / total
      state.lastLine = now
      return state.position.line(at: now, settings.paint)
    }
    if let tenth { line.say(tenth) }
  }

  private func tick(isAsked: Bool) {
    let now = MonotonicClock.now
    let columns = line.columns
    // What is said is said before the run can be over, and after nothing that came later.
    state.withLock { state in
      guard !state.isOver else { return }
      state.position.isStopping = Interruption.isRequested
      if isAsked { line.say(state.position.answer(at: now)) }
      if let notice = state.notice(at: now, after: settings.slow) {
        line.say(settings.paint(.warning, notice))
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

extension RunWatch.State {
  /// That the running case is slow, each time that it has taken as long once more.
  fileprivate mutating func notice(at now: Interval, after limit: Interval?) -> String? {
    guard let limit, let current = position.current else { return nil }
    let times = (now - current.begin).nanoseconds / limit.nanoseconds
    guard times > notices else { return nil }
    notices = times
    return "SLOW  \(clock(now - current.begin))  \(current.file), at step \(current.step)"
  }
}
