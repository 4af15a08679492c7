import Basics
import Bluetooth

/// The text of a message.
struct MessageText {
  let generation: Generation
  let model: ProductModel?
  /// Whether only the message's item may be shown.
  let isWithheld: Bool

  func layer(of bytes: [UInt8], from sender: SessionEnd) -> CaptureEntry.Layer {
    switch sender {
    case .app: command(bytes)
    case .lock: message(bytes)
    }
  }

  private func command(_ bytes: [UInt8]) -> CaptureEntry.Layer {
    do {
      let request = try Request(decoding: bytes, for: generation)
      guard !isWithheld else { return .init("Command", "\(request.item), the rest withheld") }
      do {
        return .init("Command", "\(try LockCommand(request))")
      } catch {
        return .init("Command", malformed: "\(request.item), \(error)")
      }
    } catch {
      return .init("Command", error)
    }
  }

  private func message(_ bytes: [UInt8]) -> CaptureEntry.Layer {
    let message: LockMessage
    do {
      message = try LockMessage(decoding: bytes, for: generation)
    } catch {
      return .init("Message", error)
    }
    let name: String
    let heading: String
    switch message {
    case .response(let response):
      name = "Answer"
      heading = "\(response.item): \(response.result)"
    case .publish(let publish):
      name = "Publish"
      heading = "\(publish.item)"
    }
    guard !isWithheld else { return .init(name, heading + ", the rest withheld") }
    do {
      return .init(name, try contents(of: message).map { "\(heading), \($0)" } ?? heading)
    } catch {
      return .init(name, malformed: "\(heading), \(error)")
    }
  }

  /// The contents of a message as text; `nil` if there are none.
  private func contents(of message: LockMessage) throws(DecodeError) -> String? {
    switch message {
    case .publish(let publish): try contents(of: publish)
    case .response(let response): response.data.isEmpty ? nil : try contents(of: response)
    }
  }

  private func contents(of publish: Publish) throws(DecodeError) -> String? {
    switch publish.item {
    case .initial: "token \(try publish.token())"
    case .mechStatus: "\(try MechStatus(decoding: publish.data, model: layout))"
    case .mechSetting: "\(try MechSetting(decoding: publish.data, model: layout))"
    case .login: "\(try LoginPayload(decoding: publish.data, model: layout))"
    case .history where generation == .os3: "\(try OS3HistoryRecord(decoding: publish.data))"
    default: publish.data.isEmpty ? nil : publish.data.hex
    }
  }

  private func contents(of response: Response) throws(DecodeError) -> String? {
    guard response.result == .success else { return response.data.hex }
    switch response.item {
    case .login where generation == .os2: return "\(try LoginPayload(decoding: response.data, model: layout))"
    case .login: return "clock \(try response.time())"
    case .registration where generation == .os3:
      // The lock's public key is not secret, but does not help a reader.
      let reply = try RegistrationReply(decoding: response.data)
      let setting = reply.setting.map { MechSetting.sesame5($0).description }
      let parts = [reply.status?.description, setting, "public key"]
      return parts.compactMap(\.self).joined(separator: ", ")
    case .version: return "\(try FirmwareVersion(decoding: response.data, for: generation))"
    case .autolock: return "\(try response.autolock()) s"
    case .mechStatus: return "\(try MechStatus(decoding: response.data, model: layout))"
    case .history where generation == .os2: return "\(try OS2HistoryRecord(decoding: response.data))"
    case .history: return "\(try OS3HistoryRecord(decoding: response.data))"
    default: return response.data.hex
    }
  }

  /// The product whose layouts apply if none is known: the default lock of the generation.
  private var layout: ProductModel { model ?? (generation == .os2 ? .sesame3 : .sesame5) }

  /// Whether a message contains a key, a passcode or a password, by its item.
  static func isWithheld(_ bytes: [UInt8], from sender: SessionEnd, _ generation: Generation) -> Bool {
    let itemOffset = sender == .app && generation == .os3 ? 0 : 1
    guard itemOffset < bytes.count, bytes.count > itemOffset + 1 else { return false }
    switch bytes[itemOffset] {
    // A lock given to a reader, passcodes, a Wi-Fi password, a Matter code, more passcodes.
    case 101, 123...130, 135, 137, 138, 142, 184, 185: return true
    default: return false
    }
  }
}
