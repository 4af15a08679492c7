import Synchronization

/// The arguments of this process.
public enum Invocation {
  private static let given = Mutex(Array(CommandLine.arguments.dropFirst()))

  /// The command-line arguments that would repeat this invocation.
  public static var words: [String] {
    get { given.withLock { $0 } }
    set { given.withLock { $0 = newValue } }
  }
}
