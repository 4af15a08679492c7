import Basics
import System

/// What is wrong with what a person asks for, in one line.
public struct UsageError: Error, Equatable, Sendable {
  public var message: String
  /// What the command ends with: nothing is wrong with a command line that this machine is not fit for.
  public var status = CommandStatus.usage

  /// Says what is wrong.
  public init(_ message: String, status: CommandStatus = .usage) {
    self.message = message
    self.status = status
  }
}

/// What comes of something that a person asks for; where that fails, what is asked for is wrong.
///
/// - Parameter head: what the message begins with, such as `--key: `.
public func checked<Value>(_ head: String = "", _ body: () throws -> Value) throws(UsageError) -> Value {
  do {
    return try body()
  } catch let fault as FileFault where fault.isMachines {
    throw UsageError("\(head)\(fault)", status: .labFault)
  } catch {
    throw UsageError("\(head)\(error)")
  }
}

/// What to say of a name that is none: the one that is nearest, or those that there are.
public func hint(for name: String, of names: [String], saying all: String = "there are") -> String {
  nearestName(to: name, in: names).map { "did you mean '\($0)'?" }
    ?? "\(all) \(names.joined(separator: ", "))"
}

/// The bytes of a file that a person names.
public func namedFile(_ path: String) throws(UsageError) -> [UInt8] {
  try checked { try WholeFile.bytes(of: path) }
}
