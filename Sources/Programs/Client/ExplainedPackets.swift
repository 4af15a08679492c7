package import Bluetooth

extension PacketRecorder {
  /// The recorded packets, decoded, with the meanings from the driver; `nil` if the driver provided none.
  package var explained: [CaptureEntry]? {
    var meanings = meanings
    guard !meanings.isEmpty else { return nil }
    var decoder = CaptureDecoder()
    return records.flatMap { record in
      var decoding = decoder.decode(record)
      if let value = decoding.value,
        let index = meanings.firstIndex(where: {
          $0.value == value.bytes && $0.isReceived != value.isWritten
        }),
        let packet = decoding.entries.lastIndex(where: { $0.event == nil })
      {
        decoding.entries[packet].layers.append(.init("driver", meanings.remove(at: index).text))
      }
      return decoding.entries
    }
  }
}
