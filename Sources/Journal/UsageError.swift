import Basics
import System

/// An error in a user's request, in one line.
public struct UsageError: Error, Equatable, Sendable {
  public var message: String
  /// The exit status; it is not ``CommandStatus/usage`` if the fault is with this machine and not with the command
  /// line.
  public var status = CommandStatus.usage

  /// Creates an error.
  public init(_ message: String, status: CommandStatus = .usage) {
    self.message = message
    self.status = status
  }
}

/// Returns the result of a request; if the request fails, throws a usage error.
///
/// - Parameter head: The beginning of the message, such as `--key: `.
public func checked<Value>(_ head: String = "", _ body: () throws -> Value) throws(UsageError) -> Value {
  do {
    return try body()
  } catch let fault as FileFault where fault.isMachines {
    throw UsageError("\(head)\(fault)", status: .labFault)
  } catch {
    throw UsageError("\(head)\(error)")
  }
}

/// Returns a hint for an unknown name: the nearest name, or all names.
public func hint(for name: String, of names: [String], saying all: String = "there are") -> String {
  nearestName(to: name, in: names).map { "did you mean '\($0)'?" }
    ?? "\(all) \(names.joined(separator: ", "))"
}

/// Returns the bytes of a file that the user named.
public func namedFile(_ path: String) throws(UsageError) -> [UInt8] {
  try checked { try WholeFile.bytes(of: path) }
}
