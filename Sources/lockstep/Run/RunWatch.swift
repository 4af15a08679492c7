import Reporting
import Emulator
import System
import Journal
import Basics
import Synchronization

/// How far a run is shown to be.
enum ProgressChoice: String, WordChoice {
  case auto, bar, counter, none
}

/// Shows how far a run is while it goes on, says which case is slow, and answers who asks by SIGUSR1.
///
/// The run tells it what happens; all else is done by a thread of its own, since a real lock may say nothing for long.
final class RunWatch: JournalListener, Sendable {
  /// What is shown on standard error.
  enum Display {
    /// A line at the bottom of the terminal.
    case bar
    /// A line now and then, and one at each tenth of the cases where that was asked for.
    case counter(atTenths: Bool)
    case nothing
  }

  /// How it shows things.
  struct Settings {
    var display = Display.nothing
    /// After how long a case is said to be slow; `nil` for never.
    var slow: Interval?
    var paint = Painter(isOn: false)
  }

  /// How often a log gets a line.
  private static let period = Interval.seconds(10)

  fileprivate struct State {
    var position: RunPosition
    var isOver = false
    var lastLine: Interval
    var lastTenth = 0
    /// How often the running case was said to be slow.
    var complaints: Int64 = 0
  }

  private let settings: Settings
  private let line: StatusLine
  private let state: Mutex<State>

  init(total: Int?, _ settings: Settings, _ line: StatusLine) {
    self.settings = settings
    self.line = line
    let now = MonotonicClock.now
    state = Mutex(State(position: RunPosition(total: total, begin: now), lastLine: now))
  }

  /// Begins to watch.
  func start() {
    inBackground { [self] in
      while !state.withLock({ $0.isOver }) {
        let isAsked = StatusSignal.wait(for: .milliseconds(100))
        tick(isAsked: isAsked)
      }
    }
  }

  /// Ends it; nothing is shown from then on.
  func finish() {
    state.withLock { $0.isOver = true }
    line.show("")
  }

  func take(_ record: Record) {
    let now = MonotonicClock.now
    let tenth = state.withLock { state -> String? in
      state.position.take(record, at: now)
      if case .begin = record { state.complaints = 0 }
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
      if let complaint = state.complaint(at: now, after: settings.slow) {
        line.say(settings.paint(.warning, complaint))
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
  fileprivate mutating func complaint(at now: Interval, after limit: Interval?) -> String? {
    guard let limit, let current = position.current else { return nil }
    let times = (now - current.begin).nanoseconds / limit.nanoseconds
    guard times > complaints else { return nil }
    complaints = times
    return "SLOW  \(clock(now - current.begin))  \(current.file), at step \(current.step)"
  }
}

extension RunWatch.Settings {
  /// What is shown on a console.
  init(_ choice: ProgressChoice, slow: Interval, _ color: ColorChoice, isQuiet: Bool, _ console: Console) {
    let isDrawn = console.status.isTerminal && Host.variable("TERM") != "dumb"
    display =
      switch choice {
      case .bar: .bar
      case .counter: .counter(atTenths: true)
      case .none: .nothing
      case .auto: isQuiet ? .nothing : isDrawn ? .bar : .counter(atTenths: false)
      }
    self.slow = isQuiet ? nil : slow
    paint = console.painter(color, for: .errors)
  }
}

/// Everybody to whom a run tells what happens: its folder, who reads its reports, and who watches.
struct RunAudience {
  let human: HumanReport
  /// All of them.
  let listener: any JournalListener
  private let watch: RunWatch
  private let console: Console

  /// Gathers them for a run of so many cases, where that is known, and begins to watch.
  init(_ arguments: RunArguments, _ folder: RunFolder, total: Int?, _ console: Console) {
    let (isQuiet, verbosity) = (arguments.isQuiet, arguments.verbosity)
    self.console = console
    human = HumanReport(console, console.painter(arguments.color), isQuiet: isQuiet, verbosity: verbosity)
    let report: any JournalListener =
      arguments.format == .human ? human : JSONReport(console, isQuiet: isQuiet, verbosity: verbosity)
    let settings = RunWatch.Settings(
      arguments.progress, slow: arguments.slow, arguments.color, isQuiet: isQuiet, console)
    watch = RunWatch(total: total, settings, console.status)
    listener = Listeners([folder, report, watch])
    watch.start()
  }

  /// Watches no more, and says how the locks were left.
  func finish(_ leave: [String]) {
    watch.finish()
    for words in leave { console.say("lockstep: \(words)") }
  }
}
