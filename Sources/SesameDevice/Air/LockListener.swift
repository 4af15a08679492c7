import Links
import Sesame
public import Bluetooth

/// Identifies a lock on the air.
public enum LockTarget: Hashable, Sendable {
  /// The lock that advertises this identity, from any address.
  case deviceID(UUID128)
  /// The lock at this address.
  case address(PeerAddress)
}

/// Filters all advertisements for those of the client's lock.
///
/// An OS2 lock reveals its identity in the scan response: its advertisement counts once that has arrived. The
/// listener skips other devices, including other locks. The only exceptions are devices that claim to be Sesame
/// locks but cannot be decoded: the client receives each of them once.
struct LockListener: Sendable {
  /// What the listener knows of a device. Most devices repeat the same advertisement.
  private struct Note: Sendable {
    var verdict = Verdict.other
    /// Whether the device's data is complete only with its scan response.
    var endsInResponse = false
    /// Whether the client has received its undecodable data.
    var isReported = false
  }

  private enum Verdict: Sendable {
    case target
    /// It claims to be a Sesame lock and cannot be decoded.
    case unreadable
    /// Another lock, or a different kind of device.
    case other
  }

  /// The lock to find.
  let target: LockTarget
  /// The address of the lock, once it was heard.
  private(set) var address: PeerAddress?
  private var advertisers = Advertisers(note: Note())

  init(_ target: LockTarget) {
    self.target = target
    if case .address(let address) = target { self.address = address }
  }

  /// The number of devices heard since listening began that are certainly not the lock.
  var others: Int {
    advertisers.devices.count {
      $0.isHeard && $0.note.verdict == .other && (!$0.note.endsInResponse || $0.response != nil)
    }
  }

  /// Starts listening again: the client receives undecodable devices again.
  mutating func listenAgain() {
    advertisers.forgetHeard()
    for index in advertisers.devices.indices { advertisers[index].note.isReported = false }
  }

  /// Receives a report.
  ///
  /// - Returns: the data for the client, advertisement and scan response one after the other; `nil` to skip the
  ///   report.
  mutating func hear(_ report: AdvertisingReport) -> [UInt8]? {
    guard let change = advertisers.hear(report) else { return nil }
    let index = change.index
    if change.isNew {
      if !change.isResponse {
        // The last scan response belonged to the previous advertisement.
        advertisers[index].response = nil
        advertisers[index].note.isReported = false
      }
      classify(index)
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

  /// Classifies a device.
  private mutating func classify(_ index: Int) {
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
