import Basics
import Bluetooth
import Conformance
import Emulator
package import Journal
package import Programs
import System

extension PeripheralProgram {
  /// Parses `peripheral:COMMAND`, starts the program and greets it; returns `nil` for another kind of text.
  package static func named(_ text: String) throws(UsageError) -> PeripheralProgram? {
    let kind = "peripheral:"
    guard text.hasPrefix(kind) else { return nil }
    let command = String(text.dropFirst(kind.count))
    guard !command.isEmpty else { throw UsageError("nothing follows 'peripheral:'") }
    do throws(PeripheralProgram.Problem) {
      return try PeripheralProgram(command)
    } catch {
      switch error {
      case .unusable(let why): throw UsageError(why)
      case .silent(let fault): throw UsageError(fault.detail, status: .labFault)
      }
    }
  }
}

extension ProgramPeripheral: EmulationLock {
  var announcement: EmulationAnnouncement {
    EmulationAnnouncement(
      name: name, address: address.description)
  }
  var trouble: String? { fault?.description ?? failure?.description }

  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket] {
    do {
      let packets = try prepare(StartCondition(), at: now)
      // A program may start slowly: the controller's command must follow, or its answer would be late.
      return packets + start(at: Waiting.now)
    } catch {
      throw EmulationFault(error.description)
    }
  }

  /// Nothing to save: the program keeps its own key.
  func keep(_ report: any EmulationAudience) {}

  func abilities(on air: any EmulatedAir) -> ControlAbilities {
    var abilities = abilities
    // On a real controller, only the air affects the link.
    abilities.conditions = air.conditions + abilities.conditions.filter { !air.conditions.contains($0) }
    return ControlAbilities(
      lock: name, options: [], abilities, readings: readings)
  }

  func prepare(
    _ start: StartCondition, _ options: [Argument], at now: Instant
  ) throws(LabFault) -> (key: JSON?, packets: [HCIPacket]) {
    if let option = options.first {
      throw LabFault(.notPossible, "the lock of a program has no option '\(option.name)'")
    }
    return (nil, try prepare(start, at: now))
  }
}
