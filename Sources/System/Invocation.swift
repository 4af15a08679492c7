import Synchronization

/// What this process was asked for.
public enum Invocation {
  private static let given = Mutex(Array(CommandLine.arguments.dropFirst()))

  /// The words after the program's name, as somebody would type them to ask for it again.
  public static var words: [String] {
    get { given.withLock { $0 } }
    set { given.withLock { $0 = newValue } }
  }
}
