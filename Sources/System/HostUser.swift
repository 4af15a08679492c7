import Glibc

extension Host {
  /// Whether the user is root.
  public static var isRoot: Bool { geteuid() == 0 }
}
