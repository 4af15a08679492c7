/// An activity of the controller that continues once enabled, scanning or advertising, and its progress.
///
///                  beginning: one command after another ──▶ on
///       start ▲                                             │ stop, or start with something else
///            off ◀───────────────── ending ◀────────────────┤
///             ▲                                             │
///             └─────────────────────────────────────────────┘ it ended by itself
///
/// Settings can be changed only while the activity is off. A request during a command replaces earlier ones, and is
/// carried out after the command.
struct HostActivity<Settings: HostActivitySettings>: Sendable {
  /// A request of the user.
  enum Request: Sendable {
    case start(Settings)
    case stop
  }

  private enum State: Sendable {
    case off
    /// This many of the commands were answered; the last one enables it.
    case beginning(Settings, answered: Int, next: Request?)
    /// It ended by itself before the controller had confirmed its start.
    case overtaken(next: Request?)
    case on(Settings)
    case ending(next: Request?)
  }

  private var state = State.off

  /// Carries out a request of the user, now or after the current command.
  mutating func perform(_ request: Request) -> [HostPartAction] {
    switch state {
    case .off:
      return begin(request)
    case .beginning(let settings, let count, _):
      state = .beginning(settings, answered: count, next: request)
      return []
    case .overtaken:
      state = .overtaken(next: request)
      return []
    case .on:
      return end(next: request)
    case .ending:
      state = .ending(next: request)
      return []
    }
  }

  /// Receives the response to a command.
  mutating func answered(_ status: HCIErrorCode) -> [HostPartAction] {
    switch (state, status) {
    case (.beginning(let settings, let count, let next), .success):
      let left = settings.commands.dropFirst(count + 1)
      switch (left.first, next) {
      case (_?, let next?):
        return begin(next)
      case (let command?, nil):
        state = .beginning(settings, answered: count + 1, next: nil)
        return [.send(command, Settings.asker)]
      case (nil, let next?):
        return [.report(Settings.event(true, .success))] + end(next: next)
      case (nil, nil):
        state = .on(settings)
        return [.report(Settings.event(true, .success))]
      }
    case (.beginning(_, _, let next), _):
      return [.report(Settings.event(false, status))] + begin(next)
    case (.overtaken(let next), _), (.ending(let next), _):
      // A controller refuses to end an activity that is not active, or has ended already.
      return begin(next)
    case (.off, _), (.on, _):
      return []
    }
  }

  /// Reports that it may have ended by itself, like advertising when a central connects, or directed
  /// advertising at its timeout.
  mutating func ended(_ status: HCIErrorCode) -> [HostPartAction] {
    switch state {
    case .on(let settings) where settings.endsByItself:
      state = .off
    case .beginning(let settings, let count, let next)
    where settings.endsByItself && count == settings.commands.count - 1:
      state = .overtaken(next: next)
    case .on, .beginning, .off, .overtaken, .ending:
      // An end in progress continues.
      return []
    }
    return [.report(Settings.event(false, status))]
  }

  /// Begins the next request while the controller is idle.
  private mutating func begin(_ request: Request?) -> [HostPartAction] {
    switch request {
    case .start(let settings):
      state = .beginning(settings, answered: 0, next: nil)
      return [.send(settings.commands[0], Settings.asker)]
    case .stop:
      state = .off
      return [.report(Settings.event(false, .success))]
    case nil:
      state = .off
      return []
    }
  }

  private mutating func end(next: Request) -> [HostPartAction] {
    state = .ending(next: next)
    return [.send(Settings.end, Settings.asker)]
  }
}

/// The settings of an activity, and the commands that apply them.
protocol HostActivitySettings: Sendable {
  /// The commands that begin it, the last of which enables it.
  var commands: [HCICommand] { get }
  /// The command that ends it.
  static var end: HCICommand { get }
  static var asker: CommandQueue.Asker { get }
  /// Whether a connection ends it.
  var endsByItself: Bool { get }
  /// The event that reports its beginning, its end or a refusal.
  static func event(_ isOn: Bool, _ status: HCIErrorCode) -> HostEvent
}
