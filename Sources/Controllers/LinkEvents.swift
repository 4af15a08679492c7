import Basics
import Bluetooth

/// Connection events with packets to exchange (Core 5.4, Vol 6 Part B §4.5.6 to §4.5.9).
extension Link {
  /// Processes what is due at ``next``.
  mutating func step(at now: Int64, _ ports: inout HostPorts) {
    switch phase {
    case .waiting: wake(at: now, &ports)
    case .centralTurn: centralBegins(at: now)
    case .centralSends: centralSent(at: now, &ports)
    case .peripheralTurn:
      phase = .peripheralSends
      next = now + AirTime.packet(peripheral.load())
    case .peripheralSends: peripheralSent(at: now, &ports)
    }
  }

  private mutating func wake(at now: Int64, _ ports: inout HostPorts) {
    catchUp(to: firstEvent(from: now))
    expire(at: now)
    if anchor == now, let update, counter == update.instant { begin(update, at: now, &ports) }
    let isDue = peripheral.isBusy || isNew || central.isBusy && counter >= listens
    guard anchor == now, isHeard, isDue else { return plan(from: now) }
    centralBegins(at: now)
  }

  /// Gives up at the ends that have received nothing for too long.
  private mutating func expire(at now: Int64) {
    guard !isHeard || loss > 0 || isNew else { return }
    if central.isUp, central.deadline(establishing) <= now { central.giveUp() }
    if peripheral.isUp, peripheral.deadline(establishing) <= now { peripheral.giveUp() }
  }

  private mutating func centralBegins(at now: Int64) {
    let length = central.load()
    if update == nil, central.sending == .control, !central.isDelivered,
      case .connectionUpdate(let wanted) = central.controls[0]
    {
      update = Update(parameters: wanted, instant: counter + 6 + Int(parameters.latency))
    }
    phase = .centralSends
    next = now + AirTime.packet(length)
  }

  private mutating func centralSent(at now: Int64, _ ports: inout HostPorts) {
    if let reason = central.terminateReason { central.ended = reason }
    guard isHeard, !isLost() else { return close(at: now) }
    peripheral.lastHeard = now
    peripheral.hasHeard = true
    if peripheral.isDelivered { peripheral.confirm(at: now, &ports) }
    guard peripheral.ended == nil else { return close(at: now) }
    if central.sending != .nothing, !central.isDelivered {
      central.isDelivered = true
      if case .data(let count) = central.sending {
        peripheral.deliver(central.payload(count, to: peripheral.handle), at: now, &ports)
      } else {
        take(central.controls[0], inCentral: false, at: now, &ports)
      }
    }
    phase = .peripheralTurn
    next = now + AirTime.pause
  }

  private mutating func peripheralSent(at now: Int64, _ ports: inout HostPorts) {
    if let reason = peripheral.terminateReason { peripheral.ended = reason }
    guard isHeard, !isLost() else { return close(at: now) }
    central.lastHeard = now
    central.hasHeard = true
    if central.isDelivered { central.confirm(at: now, &ports) }
    guard central.ended == nil else { return close(at: now) }
    if peripheral.sending != .nothing, !peripheral.isDelivered {
      peripheral.isDelivered = true
      if case .data(let count) = peripheral.sending {
        central.deliver(peripheral.payload(count, to: central.handle), at: now, &ports)
      } else {
        take(peripheral.controls[0], inCentral: true, at: now, &ports)
      }
    }
    let isWanted = central.hasMore || peripheral.hasMore || central.terminateReason != nil
    guard peripheral.ended == nil, isWanted, hasRoom(at: now) else { return close(at: now) }
    phase = .centralTurn
    next = now + AirTime.pause
  }

  /// Returns whether another packet in each direction fits before the next event, and within the event length that
  /// the host requested.
  private func hasRoom(at now: Int64) -> Bool {
    let packets =
      AirTime.packet(central.transmit.payload) + AirTime.packet(peripheral.transmit.payload)
    let preference = Int64(parameters.maximumEventLength) * AirTime.slot
    let length = preference == 0 ? interval : min(preference, interval)
    return now + packets + 3 * AirTime.pause <= anchor + length
  }

  private mutating func close(at now: Int64) {
    if peripheral.lastHeard > anchor { listens = counter + 1 + Int(parameters.latency) }
    counter += 1
    anchor += interval
    expire(at: now)
    plan(from: now)
  }

  /// Applies the new timing from the event that begins now (§5.1.1).
  private mutating func begin(_ update: Update, at now: Int64, _ ports: inout HostPorts) {
    self.update = nil
    let old = timing
    parameters = update.parameters
    interval = Int64(parameters.minimumInterval) * AirTime.unit
    listens = counter
    central.supervisionTimeout = Int64(parameters.supervisionTimeout) * 10_000_000
    central.pending.update = nil
    ports.emit(
      .leConnectionUpdateComplete(status: .success, central.handle, timing), to: central.controller, at: now)
    guard update.isShared else {
      // The peripheral has not received the update and keeps listening at the old times.
      isOutOfStep = true
      return
    }
    peripheral.supervisionTimeout = central.supervisionTimeout
    guard timing != old || peripheral.pending.update != nil else { return }
    peripheral.pending.update = nil
    ports.emit(
      .leConnectionUpdateComplete(status: .success, peripheral.handle, timing), to: peripheral.controller,
      at: now)
  }
}
