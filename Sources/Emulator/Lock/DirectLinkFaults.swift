import Basics
public import Conformance
import Sesame

extension DirectLink {
  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    carryOut(lock.turnByHand(to: try BoltState(ofStimulus: stimulus), at: now))
  }

  /// Brings about a disturbance.
  ///
  /// | fault | value |
  /// |---|---|
  /// | `drop`, `corrupt`, `duplicate` | `next-notification`, `next-write`, or how many frames of either kind; `no` ends it |
  /// | `delay` | how much longer the next frame takes; those behind it wait |
  /// | `lose-link` | both ends lose the link now, with reason 0x08; `after 2 frames` when two more have arrived |
  /// | `out-of-range` | `yes` or `no`, or for how long; a link survives two seconds of it |
  /// | `no-power` | `yes` or `no` |
  /// | `power-cycle` | `yes`: the power goes and comes back at once |
  /// | `jam` | `yes` or `no` |
  /// | `battery` | the volts of a new battery |
  /// | `clock` | by how much the lock's clock is put forward, or back |
  /// | `inject` | a frame, in hexadecimal, that the client receives though the lock did not send it |
  /// | `write` | a frame, in hexadecimal, that the lock receives though the client did not send it |
  /// | `advertise` | AD structures, in hexadecimal, that a listening client hears from somebody else |
  /// | `thirdParty` | `busy`, `unlock`, `lock`, `wrong-key` or `replay`: somebody else connects, if nobody is, does that and leaves |
  public mutating func bring(about fault: Fault) throws(LabFault) {
    if fault.name == Intrusion.fault {
      if let intrusion = try Intrusion(fault) { intrude(intrusion) }
      return
    }
    switch try LockFault(fault) {
    case .tamper(let tampering): disturbances.add(tampering)
    case .callOff(let kind): disturbances.callOff(kind)
    case .link(.lose):
      tamper()
      loseLink()
    case .link(.outOfRange(let isAbsent)): setAbsent(isAbsent)
    case .link(.away(let interval)):
      setAbsent(true)
      queue.schedule(.returning(outOfRange: rangeLosses), at: now + interval)
    case .link(.noPower(true)): cutPower()
    case .link(.noPower(false)): restorePower()
    case .link(.powerCycle):
      cutPower()
      restorePower()
    case .jam(let isJammed): carryOut(lock.jam(isJammed, at: now))
    case .battery(let volts): lock.replaceBattery(volts: volts)
    case .clock(let shift): lock.shiftClock(by: shift, at: now)
    case .inject(let frame): inject(frame)
    case .write(let frame): write(frame)
    case .advertise(let data): advertise(data)
    case .link(.nothing), .nothing: break
    }
  }
}
