import Basics
public import Conformance
import Sesame

extension DirectLink {
  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    carryOut(lock.turnByHand(to: try BoltState(ofStimulus: stimulus), at: now))
  }

  /// Injects a fault.
  ///
  /// | fault | value |
  /// |---|---|
  /// | `drop`, `corrupt`, `duplicate` | `next-notification`, `next-write`, or how many frames of either kind; `no` ends it |
  /// | `delay` | the additional latency of the next frame; later frames wait for it |
  /// | `lose-link` | both ends lose the link now, with reason 0x08; `after 2 frames` when two more have arrived |
  /// | `out-of-range` | `yes` or `no`, or for how long; a link survives two seconds of it |
  /// | `no-power` | `yes` or `no` |
  /// | `power-cycle` | `yes`: the power goes and comes back at once |
  /// | `jam` | `yes` or `no` |
  /// | `battery` | the volts of a new battery |
  /// | `clock` | by how much the lock's clock is set forward, or back |
  /// | `inject` | a frame, in hexadecimal, that the client receives although the lock did not send it |
  /// | `write` | a frame, in hexadecimal, that the lock receives although the client did not send it |
  /// | `advertise` | AD structures, in hexadecimal, that a listening client receives from a third party |
  /// | `thirdParty` | `busy`, `unlock`, `lock`, `wrong-key` or `replay`: a third party connects, if no client is connected, does that and disconnects |
  public mutating func bring(about fault: Fault) throws(LabFault) {
    if fault.name == Intrusion.fault {
      if let intrusion = try Intrusion(fault) { intrude(intrusion) }
      return
    }
    switch try LockFault(fault) {
    case .tamper(let tampering): disturbances.add(tampering)
    case .cancel(let kind): disturbances.cancel(kind)
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
