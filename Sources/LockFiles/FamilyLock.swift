public import Conformance
public import Documents

/// The part of a lock file that belongs to one family. Each family has its own keys.
public protocol FamilyLock: Sendable {
  /// The key that identifies the family in a file, and a phrase for the locks that it is used for.
  static var distinction: (key: String, use: String) { get }
  /// All keys that a file of the family may have.
  static var keys: [String] { get }
  /// The keys whose values are not secret, in addition to those that every lock may have.
  static var openKeys: [String] { get }
  /// The nested keys whose values are not secret.
  static var openKeysBelow: [String] { get }
  /// The description that the management of these locks needs; `nil` if a lock's own program provides it.
  static var family: LockFamily? { get }

  /// Reads the family's part of a lock file; `nil` if it is wrong, after reporting the problems.
  ///
  /// - Parameter folder: the folder of the file.
  init?(_ cursor: Cursor, _ fields: Fields, folder: String)

  /// The lock's identity; `nil` for a lock that its address identifies.
  var id: String? { get }
}

extension FamilyLock {
  public static var openKeysBelow: [String] { [] }
}

extension LockFile {
  /// The families that have lock files, the default one first. Add a new family here.
  static let families: [any FamilyLock.Type] = [SesameLock.self, DriverLock.self]
}

extension LockFamily {
  /// The family that is assumed before a lock file is read.
  public static let usual: LockFamily = {
    guard let usual = LockFile.families.lazy.compactMap({ $0.family }).first else {
      preconditionFailure("no family of locks is built in")
    }
    return usual
  }()

  /// The stimuli of all built-in families that need a permission.
  public static let allGuarded: [String] = LockFile.families.compactMap { $0.family }.flatMap(\.guarded)
}
