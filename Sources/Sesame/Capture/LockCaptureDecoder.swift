public import Bluetooth

/// Decodes the packets of a capture, from HCI to the lock's commands.
///
/// Records are returned in order, a few of them late: only the end of a message in several frames shows which
/// of its bytes must be hidden. Keys, and the data from which keys are derived, are never shown.
public struct LockCaptureDecoder {
  private var decoder = CaptureDecoder(names: [
    SesameService.service: "Sesame", SesameService.write: "Sesame write",
    SesameService.notify: "Sesame notify",
  ])
  private var knowledge: SessionObserver.Knowledge
  /// The product of the lock whose key is given, for captures without its advertisement.
  private let model: ProductModel?
  private var advertisers: [PeerAddress: Advertiser] = [:]
  /// The controllers of hosts that advertise as a Sesame: these hosts are locks.
  private var locks: Set<UInt16?> = []
  private var observers: [(link: Int, observer: SessionObserver)] = []
  /// The entries held back until incomplete messages are complete.
  private var waiting: [CaptureEntry] = []

  /// The advertisements of a device.
  private struct Advertiser {
    var data = AdvertisingData()
    var scanResponse = AdvertisingData()

    var advertisement: Advertisement? { try? Advertisement(data, scanResponse: scanResponse) }

    /// Whether it is a Sesame, by the advertised service; `nil` without an advertisement.
    var isSesame: Bool? {
      if (data.services + scanResponse.services).contains(SesameService.service) { return true }
      return data.structures.isEmpty ? nil : false
    }
  }

  /// The most entries that wait for the end of a message that may never come.
  private static let maximumWaiting = 16_384

  /// Makes a decoder.
  ///
  /// - Parameters:
  ///   - keys: the keys of locks.
  ///   - model: the model of the key's lock, if the capture does not reveal it.
  ///   - sessions: the keys of sessions, if known.
  public init(keys: [LockKey] = [], model: ProductModel? = nil, sessions: [SessionSecret] = []) {
    knowledge = SessionObserver.Knowledge(keys: keys, sessions: sessions)
    self.model = model
  }

  /// Decodes the next record.
  ///
  /// - Returns: the completed entries.
  public mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry] {
    var decoding = decoder.decode(record)
    for report in decoding.reports { receive(report) }
    if decoding.lost > 0 {
      for index in observers.indices { observers[index].observer.lose(Int(decoding.lost)) }
    }
    if let data = decoding.advertised {
      if data.services.contains(SesameService.service) { locks.insert(record.controller) }
    }
    var secrets = decoding.secrets
    if let value = decoding.value, let isEvident = isSesame(value) {
      let reading = read(value)
      let packet = decoding.entries.lastIndex { $0.event == nil }
      if isEvident, let packet { decoding.entries[packet].layers += reading.layers }
      secrets += reading.secrets
    } else if !decoding.reports.isEmpty, let packet = decoding.entries.lastIndex(where: { $0.event == nil }) {
      decoding.entries[packet].layers += layers(of: decoding.reports)
    }
    if !decoding.ended.isEmpty { observers.removeAll { decoding.ended.contains($0.link) } }
    waiting += decoding.entries
    for secret in secrets {
      let index = waiting.lastIndex { $0.number == secret.number && $0.event == nil }
      if let index { waiting[index].secrets.append(secret.range) }
    }
    let isMessageIncomplete = observers.contains { $0.observer.isGathering }
    return isMessageIncomplete && waiting.count < Self.maximumWaiting ? [] : finish()
  }

  /// Returns the remaining entries.
  public mutating func finish() -> [CaptureEntry] {
    defer { waiting.removeAll(keepingCapacity: true) }
    return waiting
  }

  private mutating func receive(_ report: AdvertisingReport) {
    guard let data = try? AdvertisingData(decoding: report.data) else { return }
    // A capture has no more addresses than there are locks, unless they are forged.
    if advertisers.count > 10_000 { advertisers = [:] }
    if report.kind == .scanResponse {
      advertisers[report.address, default: Advertiser()].scanResponse = data
    } else {
      advertisers[report.address, default: Advertiser()].data = data
    }
  }

  private func layers(of reports: [AdvertisingReport]) -> [CaptureEntry.Layer] {
    reports.compactMap { advertisers[$0.address]?.advertisement.map { .init("Sesame", "\($0)") } }
  }

  /// Whether a value is a frame of a Sesame; `nil` if that is impossible.
  ///
  /// If the capture lacks the discovery of an attribute, every value may be a frame, except the two bytes
  /// that enable notifications. It is shown as a frame only if there is evidence that the device is a Sesame:
  /// its advertisement, or given data such as its key. Bytes that a frame would hide are hidden in any case.
  private func isSesame(_ value: CapturedValue) -> Bool? {
    switch value.type {
    case SesameService.write?: value.isWritten ? true : nil
    case SesameService.notify?: value.isWritten ? nil : true
    case nil where value.isWritten && value.bytes.count == 2 && value.bytes[0] <= 2 && value.bytes[1] == 0:
      nil
    case nil: isSesame(deviceOf: value)
    default: nil
    }
  }

  private func isSesame(deviceOf value: CapturedValue) -> Bool {
    // Its two attributes are known, and this is another one.
    if value.discovered.values.contains(SesameService.write) { return false }
    if value.hostIsClient == false, locks.contains(value.controller) { return true }
    if let peer = value.peer, let isSesame = advertisers[peer]?.isSesame { return isSesame }
    return model != nil || !knowledge.keys.isEmpty || !knowledge.sessions.isEmpty
  }

  private mutating func read(_ value: CapturedValue) -> SessionObserver.Reading {
    let index = observers.firstIndex { $0.link == value.link } ?? observers.count
    if index == observers.count {
      let advertisement = value.peer.flatMap { advertisers[$0]?.advertisement }
      let observer = SessionObserver(
        model: advertisement?.model ?? model, deviceID: advertisement?.deviceID)
      observers.append((value.link, observer))
    }
    return observers[index].observer.take(value, &knowledge)
  }
}
