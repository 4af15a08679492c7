public import Conformance
import Synchronization

/// The statuses that an emulated application shows, in order, until they are observed.
///
/// Services and callbacks write to it from any thread. A status that is already shown is not shown again.
public final class Display: Sendable {
  private enum Shown: Sendable {
    case status(String)
    case effect(String)
    case refused(String)
  }

  private struct State {
    var waiting: [Shown] = []
    /// How many of the waiting items were observed.
    var observed = 0
    var status: String?
  }

  private let state = Mutex(State())

  /// Makes a display that shows nothing yet.
  public init() {}

  /// Shows a status, unless it is the one that was shown last.
  public func show(status: String) {
    state.withLock { state in
      guard state.status != status else { return }
      state.status = status
      state.waiting.append(.status(status))
    }
  }

  /// Shows an effect.
  public func show(effect: String) {
    state.withLock { $0.waiting.append(.effect(effect)) }
  }

  /// Shows why a stimulus is refused.
  public func refuse(_ reason: String) {
    state.withLock { $0.waiting.append(.refused(reason)) }
  }

  /// Discards what was not observed; the status last shown stays.
  public func clear() {
    state.withLock { state in
      state.waiting.removeAll(keepingCapacity: true)
      state.observed = 0
    }
  }

  /// Removes and returns the next item, in a model's vocabulary.
  public func next(in vocabulary: Vocabulary) -> Observation? {
    let shown = state.withLock { state -> Shown? in
      guard state.observed < state.waiting.count else {
        state.waiting.removeAll(keepingCapacity: true)
        state.observed = 0
        return nil
      }
      state.observed += 1
      return state.waiting[state.observed - 1]
    }
    switch shown {
    case .status(let name): return vocabulary.observation(ofStatus: name)
    case .effect(let name): return vocabulary.observation(ofEffect: name)
    case .refused(let reason): return .refused(reason)
    case nil: return nil
    }
  }
}
