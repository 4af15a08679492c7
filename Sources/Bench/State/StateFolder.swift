import System
public import Conformance
import Glibc

/// Where Lockstep keeps what outlives a run and belongs to this machine: leases, and the ``StateStore`` of all else.
///
/// A lock's movements are the lock's, whoever causes them: so there is one folder for all users of a machine,
/// ``machine``, where somebody has set it up ('lockstep doctor --set-up' prints the line) and this user may write it. Where
/// not, each user has one, and nobody's movements are counted with another's; leases hold all the same, see ``Lease``.
public enum StateFolder {
  /// The folder of all users of this machine.
  public static let machine = "/var/lib/lockstep"
  /// The variable that names another in its place: for tests, and for who knows that nobody else uses his locks.
  public static let variable = "LOCKSTEP_STATE"

  /// Whose a folder is.
  public enum Reach: Equatable, Sendable {
    /// Every user's who may write it.
    case machine
    /// This user's alone.
    case user
    /// Those who name it.
    case named
  }

  /// Which folder it is, and whose.
  public struct Place: Equatable, Sendable {
    public var path: String
    public var reach: Reach
  }

  /// The folder, chosen once for as long as the process lives; `nil` where there is none.
  public static let place: Place? = choose(
    named: Host.variable(variable), own: own, isWritable: { isWritable($0) })

  /// Its path.
  public static var path: String? { place?.path }

  /// Chooses the folder.
  ///
  /// - Parameters:
  ///   - named: the value of ``variable``.
  ///   - own: the user's own folder.
  ///   - isWritable: whether a folder is there and may be written.
  static func choose(named: String?, own: String?, isWritable: (String) -> Bool) -> Place? {
    if let named { return named.hasPrefix("/") ? Place(path: named, reach: .named) : nil }
    if isWritable(machine) { return Place(path: machine, reach: .machine) }
    return own.map { Place(path: $0, reach: $0 == machine ? .machine : .user) }
  }

  /// `$XDG_STATE_HOME/lockstep`, or `~/.local/state/lockstep`; `nil` where there is no home either.
  public static var own: String? {
    // A relative path in the variable counts as none (XDG Base Directory Specification).
    if let state = Host.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/lockstep" }
    return Host.variable("HOME").map { $0 + "/.local/state/lockstep" }
  }

  /// The ``StateStore`` in it; `nil` where there is no place for one.
  public static var store: String? { path.map(store(in:)) }

  /// The one in which this user's movements were counted before there was a folder for all.
  public static var earlierStore: String? {
    place?.reach == .machine && own != path ? own.map(store(in:)) : nil
  }

  /// The same, which there has to be.
  static func neededStore() throws(LabFault) -> String { store(in: try named()) }

  private static func store(in folder: String) -> String { folder + "/state.sqlite" }

  /// Whether somebody has set up the folder of all users, and this one may not write it.
  public static var isWithheld: Bool { place?.reach == .user && kind(of: machine) != nil }

  /// Makes a folder in it, and gives its path.
  public static func folder(_ name: String) throws(LabFault) -> String { try folder(name, in: path) }

  /// Makes a folder in the user's own, for what is secret, and gives its path.
  public static func ownFolder(_ name: String) throws(LabFault) -> String {
    try folder(name, in: place?.reach == .machine ? own : path)
  }

  /// The folder, which there has to be.
  private static func named(_ path: String? = StateFolder.path) throws(LabFault) -> String {
    if let path { return path }
    let trouble = Host.variable(variable).map { "\(variable) is '\($0)', which is not an absolute path" }
    throw LabFault(
      .noDevice, "there is no place for what outlives a run: \(trouble ?? "set HOME or XDG_STATE_HOME")")
  }

  private static func folder(_ name: String, in path: String?) throws(LabFault) -> String {
    let path = try named(path)
    do {
      try makeFolder("\(path)/\(name)")
    } catch {
      throw LabFault(.noDevice, "what outlives a run cannot be kept: \(error)")
    }
    share("\(path)/\(name)", asFolder: true)
    return "\(path)/\(name)"
  }

  /// Whether what is kept in it is for a group of users.
  public static let isShared: Bool = {
    guard let path, let mode = kind(of: path) else { return false }
    return mode & S_ISGID != 0 && mode & S_IWGRP != 0
  }()

  /// Lets the group of the folder have what was just made in it, whatever the umask of whoever made it.
  static func share(_ name: String, asFolder: Bool = false) {
    guard isShared, let path, name.hasPrefix(path + "/") else { return }
    // What somebody else made he has shared already.
    _ = Kernel.chmod(name, asFolder ? 0o2775 : 0o660)
  }

  private static func isWritable(_ path: String) -> Bool {
    unsafe kind(of: path) != nil && access(path, W_OK | X_OK) == 0
  }

  /// The mode of a folder; `nil` where there is none.
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    guard Kernel.stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    return status.st_mode
  }
}

extension StateFolder.Place: CustomStringConvertible {
  /// The folder and whose it is.
  public var description: String {
    switch reach {
    case .machine: "\(path) (this machine's)"
    case .user: "\(path) (this user's alone)"
    case .named: "\(path) (named by \(StateFolder.variable))"
    }
  }
}

extension StateFolder {
  /// What is not guarded where a folder is this user's alone; `nil` where it is not.
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
  /// The group of those who share ``machine``.
  static let group = "lockstep"

  /// The line to paste that makes ``machine``, and lets whoever pastes it use it.
  public static func setUpLine(isRoot: Bool) -> String {
    (isRoot ? "" : "sudo ") + setUpLine(for: "\"$(id -un)\"")
  }

  /// The same, for root and for a user: a word of the shell.
  public static func setUpLine(for user: String) -> String {
    "sh -c 'groupadd -f -r \(group) && usermod -aG \(group) \"$1\" && install -d -m 2775 -g \(group) \(machine)' sh \(user)"
  }
}
