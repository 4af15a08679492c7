import Foundation

/// The programs that are built beside the tests.
public enum BuiltProgram {
  /// The command.
  public static let lockstep = path(of: "lockstep")
  /// The command with what only tests need: calls that fail, a contest for leases.
  public static let workbench = path(of: "lockstep-workbench")

  private static func path(of name: String) -> String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
      path: name
    )
    .path
  }
}
