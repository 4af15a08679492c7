public import Conformance
public import Documents

/// What a lock file says of a lock beside what it says of every lock. Each family has its own keys.
public protocol FamilyLock: Sendable {
  /// The key by which a file says that its lock is of this family, and for which locks that is, in words.
  static var distinction: (key: String, use: String) { get }
  /// All keys that such a file may have.
  static var keys: [String] { get }
  /// The keys whose values are no secret, beside those that every lock may have.
  static var openKeys: [String] { get }
  /// The keys below those whose values are no secret.
  static var openKeysBelow: [String] { get }
  /// What of these locks has to be known to look after them; `nil` where a program says that of its own.
  static var family: LockFamily? { get }

  /// Reads what a file says; `nil` where that is wrong, which was reported.
  ///
  /// - Parameter folder: that of the file.
  init?(_ cursor: Cursor, _ fields: Fields, folder: String)

  /// What the lock is known by; `nil` for one that is known by its address.
  var id: String? { get }
}

extension FamilyLock {
  public static var openKeysBelow: [String] { [] }
}

extension LockFile {
  /// The families of which there can be a lock file, the usual one first. Another family stands here too.
  static let families: [any FamilyLock.Type] = [SesameLock.self, DriverLock.self]
}

extension LockFamily {
  /// What is taken for the family of a lock before its file was read.
  public static let usual: LockFamily = {
    guard let usual = LockFile.families.lazy.compactMap({ $0.family }).first else {
      preconditionFailure("no family of locks is built in")
    }
    return usual
  }()

  /// The stimuli of all families built in that have to be allowed by name.
  public static let allGuarded: [String] = LockFile.families.compactMap { $0.family }.flatMap(\.guarded)
}
