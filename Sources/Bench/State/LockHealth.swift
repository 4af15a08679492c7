import Basics
import System
public import Conformance

/// Checks a lock before it is used, and records the result.
public enum LockHealth {
  /// Why a device is out of use, and how to restore it; `nil` if it is in use.
  ///
  /// - Parameters:
  ///   - identity: its identity.
  ///   - name: its name, for messages.
  public static func refusal(of identity: String, called name: String) -> String? {
    do throws(LabFault) {
      return try HealthStore.health(of: identity).outOfUse.map {
        "\(name) is out of use since \($0.since): \($0.reason); once it has been checked, 'lockstep "
          + "devices restore \(shellWord(name.split(separator: " ").last.map(String.init) ?? name))' puts "
          + "it back in use"
      }
    } catch {
      return error.detail
    }
  }

  /// Records the result of a check.
  ///
  /// - Returns: the changes.
  public static func note(
    _ finding: HealthFinding, _ lock: (identity: String, name: String),
    _ dongle: (identity: String, name: String)?
  ) throws(LabFault) -> [String] {
    let (now, named) = (WallClock.time, [lock] + [dongle].compactMap(\.self))
    let news = try HealthStore.update { book in
      let news = book.take(finding, lock: lock.identity, dongle: dongle?.identity, at: now)
      for (identity, name) in named where book[identity] != DeviceHealth() {
        book[identity].name = name
      }
      return news
    }
    return news.map { words in
      named.reduce(words) { $0.replacing($1.identity, with: $1.name) }
    }
  }
}
