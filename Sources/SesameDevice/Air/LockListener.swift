import Links
import Sesame
public import Bluetooth

/// Which lock on the air is meant.
public enum LockTarget: Hashable, Sendable {
  /// The one that advertises this identity, from whatever address.
  case deviceID(UUID128)
  /// The one at this address.
  case address(PeerAddress)
}

/// What a client hears of its lock among everything that is advertised around it.
///
/// An OS2 lock tells its identity in the scan response: its advertisement counts once that has been heard. Other
/// devices are passed over, other locks included, but for those that claim to be of Sesame and cannot be read: the
/// client is to see those, each once.
struct LockListener: Sendable {
  /// What is known of a device. Most say the same again and again.
  private struct Note: Sendable {
    var verdict = Verdict.other
    /// Whether its scan response completes what it says.
    var endsInResponse = false
    /// Whether the client has heard it, if it cannot be read.
    var isReported = false
  }

  private enum Verdict: Sendable {
    case target
    /// It claims to be of Sesame and cannot be read.
    case unreadable
    /// Another lock, or something that is no lock.
    case other
  }

  /// Which lock is meant.
  let target: LockTarget
  /// The address of the lock, once it was heard.
  private(set) var address: PeerAddress?
  private var advertisers = Advertisers(note: Note())

  init(_ target: LockTarget) {
    self.target = target
    if case .address(let address) = target { self.address = address }
  }

  /// How many devices were heard since listening began that are known to be others than the lock.
  var others: Int {
    advertisers.devices.count {
      $0.isHeard && $0.note.verdict == .other && (!$0.note.endsInResponse || $0.response != nil)
    }
  }

  /// Begins to listen again: the client hears again of those that cannot be read.
  mutating func listenAgain() {
    advertisers.forgetHeard()
    for index in advertisers.devices.indices { advertisers[index].note.isReported = false }
  }

  /// Receives a report, and gives what the client is to hear: advertisement and scan response, one after the other.
  mutating func hear(_ report: AdvertisingReport) -> [UInt8]? {
    guard let change = advertisers.hear(report) else { return nil }
    let index = change.index
    if change.isNew {
      if !change.isResponse {
        // What its scan response said belonged to the advertisement before.
        advertisers[index].response = nil
        advertisers[index].note.isReported = false
      }
      judge(index)
    }
    let note = advertisers[index].note
    guard note.endsInResponse == change.isResponse else { return nil }
    switch note.verdict {
    case .target:
      address = advertisers[index].address
      return advertisers[index].data
    case .unreadable where !note.isReported:
      advertisers[index].note.isReported = true
      return advertisers[index].data
    case .unreadable, .other:
      return nil
    }
  }

  /// Finds out who a device is.
  private mutating func judge(_ index: Int) {
    let device = advertisers[index]
    let isTarget = target == .address(device.address)
    advertisers[index].note.verdict = isTarget ? .target : .other
    advertisers[index].note.endsInResponse = false
    guard let data = try? AdvertisingData(decoding: device.advertisement),
      let manufacturer = data.manufacturerData, manufacturer.starts(with: Self.company)
    else { return }
    let model = manufacturer.count > 2 ? ProductModel(rawValue: manufacturer[2]) : nil
    let endsInResponse = model?.generation == .os2 && data.localName == nil
    advertisers[index].note.endsInResponse = endsInResponse
    guard !isTarget, !endsInResponse || device.response != nil else { return }
    let response = try? AdvertisingData(decoding: device.response ?? [])
    guard let read = try? Advertisement(data, scanResponse: response ?? AdvertisingData()) else {
      advertisers[index].note.verdict = .unreadable
      return
    }
    if target == .deviceID(read.deviceID) { advertisers[index].note.verdict = .target }
  }

  private static let company = [
    UInt8(truncatingIfNeeded: Advertisement.company), UInt8(truncatingIfNeeded: Advertisement.company >> 8),
  ]
}
