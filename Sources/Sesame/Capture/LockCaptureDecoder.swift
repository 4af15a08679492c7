public import Bluetooth

/// Says what the packets of a capture mean, from HCI to the lock's commands.
///
/// Records come out in their order, a few of them late: what a message that is in several frames must not show is
/// known only at its end. Keys are never shown, nor what they follow from.
public struct LockCaptureDecoder {
  private var decoder = CaptureDecoder(names: [
    SesameService.service: "Sesame", SesameService.write: "Sesame write",
    SesameService.notify: "Sesame notify",
  ])
  private var knowledge: SessionObserver.Knowledge
  /// The product of the lock whose key is given, for captures that do not have its advertisement.
  private let model: ProductModel?
  private var heard: [PeerAddress: Heard] = [:]
  /// The controllers of hosts that advertise as a Sesame: those of the capture are locks then.
  private var locks: Set<UInt16?> = []
  private var observers: [(link: Int, observer: SessionObserver)] = []
  /// The entries held back until incomplete messages are complete.
  private var waiting: [CaptureEntry] = []

  /// What an advertiser has advertised.
  private struct Heard {
    var data = AdvertisingData()
    var scanResponse = AdvertisingData()

    var advertisement: Advertisement? { try? Advertisement(data, scanResponse: scanResponse) }

    /// Whether it is a Sesame, by the service that it names; `nil` where it was not heard.
    var isSesame: Bool? {
      if (data.services + scanResponse.services).contains(SesameService.service) { return true }
      return data.structures.isEmpty ? nil : false
    }
  }

  /// How many entries wait at most for the end of a message that may never come.
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
  /// - Returns: the entries that are complete by now.
  public mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry] {
    var decoding = decoder.decode(record)
    for report in decoding.reports { hear(report) }
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

  /// What was not shown yet.
  public mutating func finish() -> [CaptureEntry] {
    defer { waiting.removeAll(keepingCapacity: true) }
    return waiting
  }

  private mutating func hear(_ report: AdvertisingReport) {
    guard let data = try? AdvertisingData(decoding: report.data) else { return }
    // A capture has no more addresses than there are locks, unless they are forged.
    if heard.count > 10_000 { heard = [:] }
    if report.kind == .scanResponse {
      heard[report.address, default: Heard()].scanResponse = data
    } else {
      heard[report.address, default: Heard()].data = data
    }
  }

  private func layers(of reports: [AdvertisingReport]) -> [CaptureEntry.Layer] {
    reports.compactMap { heard[$0.address]?.advertisement.map { .init("Sesame", "\($0)") } }
  }

  /// Whether a value is a frame of a Sesame; `nil` where it cannot be one.
  ///
  /// Where the capture does not have the discovery of an attribute, every value may be a frame, but for the two bytes
  /// that turn notifications on. It is shown as one only where something says that the device is a Sesame: what it
  /// advertises, or what is given of it, such as its key. What a frame would hide is hidden all the same.
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
    // Its two attributes are known, and this is another.
    if value.discovered.values.contains(SesameService.write) { return false }
    if value.hostIsClient == false, locks.contains(value.controller) { return true }
    if let peer = value.peer, let isSesame = heard[peer]?.isSesame { return isSesame }
    return model != nil || !knowledge.keys.isEmpty || !knowledge.sessions.isEmpty
  }

  private mutating func read(_ value: CapturedValue) -> SessionObserver.Reading {
    let index = observers.firstIndex { $0.link == value.link } ?? observers.count
    if index == observers.count {
      let advertisement = value.peer.flatMap { heard[$0]?.advertisement }
      let observer = SessionObserver(
        model: advertisement?.model ?? model, deviceID: advertisement?.deviceID)
      observers.append((value.link, observer))
    }
    return observers[index].observer.take(value, &knowledge)
  }
}
