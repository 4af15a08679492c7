import CommandLine
import Bench
import Devices
import Journal

extension Command {
  /// The process that monitors a run on a real lock; hidden from users.
  static var lockWatcher: Command {
    Command(
      Watcher.command, "Parks a lock whose run died.",
      operands: .init(
        placeholder: "LOCK", summary: "The lock's file; all else comes by its input.", count: 1...1,
        path: \.self),
      defaults: [String]()
    ) { _, _ throws(UsageError) in
      guard let lines = Watch.awaitEnd() else { return .agree }
      guard let order = lines.last.flatMap({ LockWatchOrder($0) }) else {
        throw UsageError("this command is for runs on a real lock alone")
      }
      return try LockWatch(order).perform()
    }
  }
}
