import Basics

@testable import Sesame

extension Adversary {
  /// Hears what a client does, and says what comes on the air and what the client's end is told.
  mutating func overhear(_ actions: [ClientAction], of client: SesameClient) -> [Action] {
    view = client.view
    var heard: [Action] = []
    for action in actions {
      switch action {
      case .send(let frame): heard += send(frame)
      case .inject(let injection): heard.append(.inject(injection))
      default: break
      }
    }
    return heard
  }

  /// Meddles, and says what the client does when it is told.
  mutating func bring(
    about interference: Interference, before client: inout SesameClient, at now: Instant
  ) -> [ClientAction] {
    view = client.view
    var done: [ClientAction] = []
    for case .report(let event) in bring(about: interference) {
      let actions = client.receive(event, at: now)
      _ = overhear(actions, of: client)
      done += actions
    }
    return done
  }
}
