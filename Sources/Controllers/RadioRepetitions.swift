import Bluetooth
public import Basics

extension Radio {
  /// Skips all but the last of the repeated reports to one host up to a limit, if nothing else happens until then:
  /// hours of scanning then cost little. Call it once the hosts have taken all packets.
  ///
  /// It skips only reports: everything else stays unchanged, including random numbers. The reports must come from
  /// one advertiser that a single scanner receives. The scanner must have reported it fully, advertisement and scan
  /// response, and must not filter duplicates. Neither may use an accept list for the other.
  public mutating func skipRepetitions(until limit: Instant) {
    guard limit != .never, let (index, wake, others) = nextAdvertiser, wake <= limit.nanoseconds,
      case .packet = advertisers[index].phase, let reported = advertisers[index].fullyReportedTo,
      let listener = onlyListener(to: index), listener.number == reported, listener.hearsRepetitions,
      advertisers[index].directedAt == nil, advertisers[index].parameters.filterPolicy & 1 == 0
    else { return }
    let horizon = min(limit.nanoseconds, others - 1, advertisers[index].end - 1)
    guard advertisers[index].searched < horizon else { return }
    let isAsked = listener.isActive && advertisers[index].isScannable
    let simulation = RepetitionSimulation(
      windows: listener.windows, loss: loss, fading: settings.fading,
      responseTime: isAsked ? advertisers[index].responseTime : nil, horizon: horizon)
    advertisers[index].searched = horizon
    guard let last = simulation.lastRepetition(in: advertisers[index].schedule, at: time) else { return }
    advertisers[index].schedule = last.schedule
    advertisers[index].awaited = last.packet
    wakeAdvertiser(index, at: last.packet.start + last.schedule.duration)
  }

  /// Returns the only listener that receives an advertiser, or `nil` if there are several or none.
  private mutating func onlyListener(to index: Int) -> Listener? {
    var only: Listener?
    for listener in listeners.indices where isHeard(index, by: listener) {
      guard only == nil else { return nil }
      only = listeners[listener]
    }
    return only
  }
}

/// Simulates an advertiser for the one scanner that receives it, as ``Radio`` does, without reporting anything.
private struct RepetitionSimulation {
  let windows: ListeningWindows
  let loss: UInt64
  let fading: Int
  /// The time from the end of a packet to the end of the scan response; `nil` if the scanner requests none.
  let responseTime: Int64?
  /// The end of the simulation.
  let horizon: Int64

  /// Returns the state just before the last packet, up to the horizon, that completes another full report.
  func lastRepetition(
    in schedule: AdvertisingSchedule, at now: Int64
  ) -> (schedule: AdvertisingSchedule, packet: AdvertisingSchedule.Packet)? {
    var last: (AdvertisingSchedule, AdvertisingSchedule.Packet)?
    var schedule = schedule
    var now = now
    while true {
      schedule.skip(to: now)
      guard let packet = nextHeard(in: schedule, at: now) else {
        now = schedule.followingEnd
        guard now <= horizon else { return last }
        continue
      }
      let before = schedule
      schedule.skip(to: packet)
      now = packet.start + schedule.duration
      guard now <= horizon else { return last }
      var end = now + AirTime.channelChange
      if !schedule.isLost(loss) {
        _ = schedule.fading(fading)
        if let responseTime {
          if !schedule.isLost(loss) {
            now += responseTime
            guard now <= horizon else { return last }
            end = now + AirTime.pause
            if !schedule.isLost(loss) {
              _ = schedule.fading(fading)
              last = (before, packet)
            }
          }
        } else {
          last = (before, packet)
        }
      }
      schedule.advance(after: end)
    }
  }

  /// Returns the first packet of this event or the next that is not over and that the scanner receives.
  private func nextHeard(in schedule: AdvertisingSchedule, at now: Int64) -> AdvertisingSchedule.Packet? {
    for isFollowing in [false, true] {
      var candidate: AdvertisingSchedule.Packet? = schedule.firstPacket(following: isFollowing)
      while let packet = candidate {
        let end = packet.start + schedule.duration
        if end > now, windows.hears(packet.channel, from: packet.start, to: end) { return packet }
        candidate = schedule.packet(after: packet)
      }
    }
    return nil
  }
}
