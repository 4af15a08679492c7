package import Conformance
import System

/// The program of a lock that is emulated on the air in real time, after its start and greeting.
package final class PeripheralProgram {
  /// Why a program cannot act as a lock.
  package enum Problem: Error {
    /// Its introduction is unusable.
    case unusable(String)
    /// It did not answer its greeting.
    case silent(LabFault)
  }

  private let program: ProgramConversation

  /// Starts the program of a command, and greets it.
  package init(_ command: String) throws(Problem) {
    program = ProgramConversation(command: command, as: .peripheral, isStopped: { Interruption.isHeard })
    program.hasTimeoutOption = false
    program.greet()
    if let fault = program.misunderstanding { throw .unusable(fault.detail) }
    if program.introduction == nil, let fault = program.greetingFault { throw .silent(fault) }
    guard program.introduction?.services.isEmpty == false else {
      throw .unusable("the peripheral offers no `services`: \(command)")
    }
  }

  /// Returns its lock, for a controller.
  ///
  /// - Parameter say: Receives the program's output other than answers, line by line.
  package func lock(seed: UInt64, say: @escaping (String) -> Void) -> ProgramPeripheral {
    program.output = ProgramOutput(in: nil, echo: say)
    return ProgramPeripheral(program, seed: seed)
  }

  /// Lets the program end.
  package func shutDown() { program.shutDown() }
}
