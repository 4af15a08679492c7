import Glibc

extension Host {
  /// Whether we may do everything on this machine.
  public static var isRoot: Bool { geteuid() == 0 }
}
