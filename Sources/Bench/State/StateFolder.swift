import System
public import Conformance
import Glibc

/// The folder for data of this machine that outlives a run: the leases, and the ``StateStore`` with everything else.
///
/// All movements of a lock count together. All users of a machine therefore share one folder,
/// ``machine``, if it was set up ('lockstep doctor --set-up' prints the command) and this user may write it.
/// Otherwise each user has a separate folder and a separate count; leases still exclude all users, see ``Lease``.
public enum StateFolder {
  /// The folder of all users of this machine.
  public static let machine = "/var/lib/lockstep"
  /// The variable that names another folder: for tests, and for locks that have no other users.
  public static let variable = "LOCKSTEP_STATE"

  /// The users who share a folder.
  public enum Reach: Equatable, Sendable {
    /// All users with write access.
    case machine
    /// This user alone.
    case user
    /// The users who name it.
    case named
  }

  /// The folder, with the users who share it.
  public struct Place: Equatable, Sendable {
    public var path: String
    public var reach: Reach
  }

  /// The folder, chosen once per process; `nil` without one.
  public static let place: Place? = choose(
    named: Host.variable(variable), own: own, isWritable: { isWritable($0) })

  /// Its path.
  public static var path: String? { place?.path }

  /// Chooses the folder.
  ///
  /// - Parameters:
  ///   - named: the value of ``variable``.
  ///   - own: the user's own folder.
  ///   - isWritable: whether a folder exists and is writable.
  static func choose(named: String?, own: String?, isWritable: (String) -> Bool) -> Place? {
    if let named { return named.hasPrefix("/") ? Place(path: named, reach: .named) : nil }
    if isWritable(machine) { return Place(path: machine, reach: .machine) }
    return own.map { Place(path: $0, reach: $0 == machine ? .machine : .user) }
  }

  /// `$XDG_STATE_HOME/lockstep`, or `~/.local/state/lockstep`; `nil` without a home.
  public static var own: String? {
    // A relative path in the variable is ignored (XDG Base Directory Specification).
    if let state = Host.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/lockstep" }
    return Host.variable("HOME").map { $0 + "/.local/state/lockstep" }
  }

  /// The path of the ``StateStore`` in it; `nil` without a folder.
  public static var store: String? { path.map(store(in:)) }

  /// The store that counted this user's movements before the shared folder existed.
  public static var earlierStore: String? {
    place?.reach == .machine && own != path ? own.map(store(in:)) : nil
  }

  /// The path of the store, which must exist.
  static func neededStore() throws(LabFault) -> String { store(in: try named()) }

  private static func store(in folder: String) -> String { folder + "/state.sqlite" }

  /// Whether the shared folder exists but this user cannot write to it.
  public static var isWithheld: Bool { place?.reach == .user && kind(of: machine) != nil }

  /// Makes a subfolder, and returns its path.
  public static func folder(_ name: String) throws(LabFault) -> String { try folder(name, in: path) }

  /// Makes a subfolder of the user's own folder, for secrets, and returns its path.
  public static func ownFolder(_ name: String) throws(LabFault) -> String {
    try folder(name, in: place?.reach == .machine ? own : path)
  }

  /// The folder, which must exist.
  private static func named(_ path: String? = StateFolder.path) throws(LabFault) -> String {
    if let path { return path }
    let trouble = Host.variable(variable).map { "\(variable) is '\($0)', which is not an absolute path" }
    throw LabFault(
      .noDevice,
      "there is no folder for the state of locks and dongles: \(trouble ?? "set HOME or XDG_STATE_HOME")")
  }

  private static func folder(_ name: String, in path: String?) throws(LabFault) -> String {
    let path = try named(path)
    do {
      try makeFolder("\(path)/\(name)")
    } catch {
      throw LabFault(.noDevice, "the state of locks and dongles cannot be kept: \(error)")
    }
    share("\(path)/\(name)", asFolder: true)
    return "\(path)/\(name)"
  }

  /// Whether a group of users shares the folder.
  public static let isShared: Bool = {
    guard let path, let mode = kind(of: path) else { return false }
    return mode & S_ISGID != 0 && mode & S_IWGRP != 0
  }()

  /// Gives the folder's group access to a new file, regardless of the umask.
  static func share(_ name: String, asFolder: Bool = false) {
    guard isShared, let path, name.hasPrefix(path + "/") else { return }
    // Files of other users were shared when they were made.
    _ = Kernel.chmod(name, asFolder ? 0o2775 : 0o660)
  }

  private static func isWritable(_ path: String) -> Bool {
    unsafe kind(of: path) != nil && access(path, W_OK | X_OK) == 0
  }

  /// The mode of a folder; `nil` without one.
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    guard Kernel.stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    return status.st_mode
  }
}

extension StateFolder.Place: CustomStringConvertible {
  /// The folder, with the users who share it.
  public var description: String {
    switch reach {
    case .machine: "\(path) (this machine's)"
    case .user: "\(path) (this user's alone)"
    case .named: "\(path) (named by \(StateFolder.variable))"
    }
  }
}

extension StateFolder {
  /// What is not protected if the folder belongs to this user only; `nil` otherwise.
  public static var warning: String? {
    guard let place, place.reach == .user else { return nil }
    let cure =
      isWithheld
      ? "\(machine) is there, and this user may not write it"
      : "'lockstep doctor --set-up' prints the line that makes one folder for all"
    return
      "state is kept in \(place): the movements that other users of this machine cause count in no budget of ours, "
      + "and what they leave undone is not seen; \(cure)"
  }
}

extension StateFolder {
  /// The group that shares ``machine``.
  static let group = "lockstep"

  /// The shell command that creates ``machine`` and gives the current user access.
  public static func setUpLine(isRoot: Bool) -> String {
    (isRoot ? "" : "sudo ") + setUpLine(for: "\"$(id -un)\"")
  }

  /// The same command for a given user, which may be a shell expression.
  public static func setUpLine(for user: String) -> String {
    "sh -c 'groupadd -f -r \(group) && usermod -aG \(group) \"$1\" && install -d -m 2775 -g \(group) \(machine)' sh \(user)"
  }
}
