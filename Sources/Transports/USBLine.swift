import System
import Bluetooth
import CLibUSB
import Glibc
import Basics

/// A USB dongle: commands in control transfers, events in interrupt transfers, ACL data in bulk transfers (Core
/// 5.4, Vol 4 Part B).
///
/// Several reads of each kind are always in progress, so the dongle never has to wait. Every transfer ends in
/// ``ended(_:)``, which libusb calls only within ``service(_:at:)`` and while opening and closing.
@safe final class USBLine: Line {
  /// The number of concurrent reads of each kind.
  private static let readCount = 4
  /// The size of an ACL read: whole packets at every USB speed, and more than a controller sends.
  private static let aclSize = 4096
  /// The maximum number of bytes in outgoing transfers.
  private static let outgoingLimit = 64 * 1024
  /// The number of consecutive failed reads after which the dongle counts as lost.
  private static let maximumFailures = 5

  private let name: String
  private let settings: TransportSettings
  private let context: USBContext
  private let interface: USBInterface
  private var handle: OpaquePointer?
  private var descriptors: [(descriptor: Int32, events: Int16)] = []
  /// All transfers that libusb may still access, and completed reads that wait to be resubmitted.
  private var transfers: [USBTransfer] = []
  private var parked = FIFO<USBTransfer>()
  private var outgoing = 0
  private var events = PacketAssembly(of: .event)
  private var acl = PacketAssembly(of: .acl)
  private var received: [HCIPacket] = []
  private var failure: TransportFault?
  private var failures = 0
  private var partialSince: Instant?
  /// Whether anything was sent to the dongle. Data that arrives before is left over from its last user.
  private var isInUse = false
  private var isClosing = false

  /// Opens a dongle, claims its interface from the kernel, and starts reading.
  init(
    _ dongle: USBDongle, _ context: USBContext, name: String, settings: TransportSettings, isReset: Bool
  )
    throws(TransportFault)
  {
    self.name = name
    self.settings = settings
    self.context = context
    interface = dongle.interface
    let (opened, status) = unsafe dongle.open(context)
    guard let opened = unsafe opened else { throw dongle.refusal(name, status) }
    unsafe handle = opened
    do throws(TransportFault) {
      try unsafe claim(opened, dongle, isReset: isReset)
      try startReading()
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }
}

extension USBLine {
  var hasPeer: Bool { true }

  var isFull: Bool { outgoing > Self.outgoingLimit }

  func descriptors(reading: Bool) -> [(descriptor: Int32, events: Int16)] { descriptors }

  var deadline: Instant? {
    [context.deadline, partialSince.map { $0 + settings.packetTimeout }].compactMap(\.self).min()
  }

  func send(_ packet: HCIPacket, at now: Instant) throws(TransportFault) {
    isInUse = true
    let bytes = packet.h4.dropFirst()
    let timeout = UInt32(settings.sendTimeout.nanoseconds / 1_000_000)
    let transfer: USBTransfer?
    switch packet {
    case .command:
      // A class request to the device, with value and index 0.
      let setup: [UInt8] = [
        0x20, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: bytes.count),
        UInt8(truncatingIfNeeded: bytes.count >> 8),
      ]
      transfer = USBTransfer(
        .command, endpoint: 0, type: LIBUSB_TRANSFER_TYPE_CONTROL, bytes: setup + bytes, timeout: timeout,
        of: self)
    case .acl:
      transfer = USBTransfer(
        .aclOut, endpoint: interface.aclOut, type: LIBUSB_TRANSFER_TYPE_BULK, bytes: Array(bytes),
        timeout: timeout, of: self)
    case .synchronous, .isochronous, .event:
      throw TransportFault(.unavailable, "\(name): only commands and ACL data go to a dongle")
    }
    guard let transfer else {
      throw TransportFault(.unavailable, "\(name): no memory is left for a transfer")
    }
    outgoing += transfer.size
    transfers.append(transfer)
    try submit(transfer)
  }

  func service(_ traffic: inout Traffic, at now: Instant) throws(TransportFault) {
    context.handleEvents()
    for packet in received { traffic.inbox.append(packet) }
    received = []
    if let failure { throw failure }
    if !traffic.isFull {
      try resume()
    } else if partialSince != nil {
      // While reading is suspended, the rest of a packet is not late.
      partialSince = now
    }
    try checkPartial(at: now)
  }

  func restart() -> Bool { false }

  func close() {
    guard let handle = unsafe handle else { return }
    isClosing = true
    let isSettled = cancelAll()
    unsafe libusb_release_interface(handle, Int32(interface.number))
    unsafe libusb_close(handle)
    unsafe self.handle = nil
    parked.removeAll()
    // Keep memory that the kernel may still write to.
    if !isSettled { for transfer in transfers { _ = unsafe Unmanaged.passRetained(transfer) } }
    transfers = []
  }
}

extension USBLine {
  /// Handles a completed or failed transfer; called by libusb.
  func ended(_ transfer: USBTransfer) {
    if isClosing { return }
    switch transfer.use {
    case .event, .aclIn: readEnded(transfer)
    case .command, .aclOut: writeEnded(transfer)
    }
  }

  private func readEnded(_ transfer: USBTransfer) {
    switch transfer.status {
    case LIBUSB_TRANSFER_COMPLETED:
      failures = 0
      take(transfer)
      parked.append(transfer)
    case LIBUSB_TRANSFER_NO_DEVICE:
      fail(unplugged)
    case LIBUSB_TRANSFER_OVERFLOW:
      fail(TransportFault(.malformed, "\(name) sent more at once than USB allows it"))
    default:
      failures += 1
      guard failures < Self.maximumFailures else {
        fail(TransportFault(.lost, "\(name) cannot be read any more; is it still plugged in?"))
        return
      }
      if transfer.status == LIBUSB_TRANSFER_STALL, let handle = unsafe handle {
        unsafe libusb_clear_halt(handle, transfer.use == .event ? interface.events : interface.aclIn)
      }
      parked.append(transfer)
    }
  }

  private func writeEnded(_ transfer: USBTransfer) {
    outgoing -= transfer.size
    transfers.removeAll { $0 === transfer }
    switch transfer.status {
    case LIBUSB_TRANSFER_COMPLETED: break
    case LIBUSB_TRANSFER_NO_DEVICE: fail(unplugged)
    case LIBUSB_TRANSFER_TIMED_OUT:
      fail(TransportFault(.silent, "\(name) has taken nothing for \(settings.sendTimeout)"))
    default:
      fail(TransportFault(.silent, "\(name) refuses what it is sent; is it still plugged in?"))
    }
  }

  private func take(_ transfer: USBTransfer) {
    guard isInUse else { return }
    do throws(DecodeError) {
      if transfer.use == .event {
        try events.append(transfer.bytes, to: &received)
      } else {
        try acl.append(transfer.bytes, to: &received)
      }
      partialSince = events.pendingCount + acl.pendingCount > 0 ? Waiting.now : nil
    } catch {
      fail(TransportFault(.malformed, "\(name) sent what is no HCI packet (\(error.reason))"))
    }
  }

  private func fail(_ fault: TransportFault) { failure = failure ?? fault }

  private var unplugged: TransportFault { TransportFault(.lost, "\(name) was unplugged") }

  private func checkPartial(at now: Instant) throws(TransportFault) {
    guard let partialSince, now - partialSince >= settings.packetTimeout else { return }
    let count = events.pendingCount + acl.pendingCount
    throw TransportFault(
      .silent, "\(name) sent \(count) bytes of a packet, and nothing more for \(settings.packetTimeout)")
  }
}

extension USBLine {
  private func claim(_ handle: OpaquePointer, _ dongle: USBDongle, isReset: Bool) throws(TransportFault) {
    // Ignore a failure: without kernel support there is no driver to detach.
    _ = unsafe libusb_set_auto_detach_kernel_driver(handle, 1)
    if isReset {
      let status = unsafe libusb_reset_device(handle)
      guard status == 0 else {
        throw TransportFault(.unavailable, "\(name) cannot be reset (\(usbErrorText(status)))")
      }
    }
    var configuration: Int32 = 0
    if unsafe libusb_get_configuration(handle, &configuration) == 0, configuration == 0 {
      _ = unsafe libusb_set_configuration(handle, 1)
    }
    let status = unsafe libusb_claim_interface(handle, Int32(interface.number))
    guard status == 0 else { throw dongle.refusal(name, status) }
  }

  private func startReading() throws(TransportFault) {
    descriptors = context.descriptors
    for _ in 0..<Self.readCount {
      // A longer read would not end with an event that fills its last packet exactly.
      let event = USBTransfer(
        .event, endpoint: interface.events, type: LIBUSB_TRANSFER_TYPE_INTERRUPT,
        size: Int(interface.eventSize),
        timeout: 0, of: self)
      let data = USBTransfer(
        .aclIn, endpoint: interface.aclIn, type: LIBUSB_TRANSFER_TYPE_BULK, size: Self.aclSize, timeout: 0,
        of: self)
      guard let event, let data else {
        throw TransportFault(.unavailable, "\(name): no memory is left for a transfer")
      }
      transfers += [event, data]
      try submit(event)
      try submit(data)
    }
    try discardLeftovers()
  }

  /// Receives and discards what the last user of the dongle did not read.
  private func discardLeftovers() throws(TransportFault) {
    let limit = Waiting.now + .milliseconds(10)
    while Waiting.now < limit {
      Waiting.wait(for: descriptors, until: limit)
      context.handleEvents()
      try resume()
    }
  }

  /// Resubmits completed reads.
  private func resume() throws(TransportFault) {
    while let transfer = parked.popFirst() { try submit(transfer) }
  }

  private func submit(_ transfer: USBTransfer) throws(TransportFault) {
    guard let handle = unsafe handle else { return }
    let status = unsafe transfer.submit(to: handle)
    guard status != 0 else { return }
    throw status == LIBUSB_ERROR_NO_DEVICE.rawValue
      ? unplugged : TransportFault(.lost, "\(name) takes no transfer (\(usbErrorText(status)))")
  }

  /// Cancels all transfers and waits until they have ended; returns false if some have not after a second.
  private func cancelAll() -> Bool {
    for transfer in transfers { transfer.cancel() }
    let limit = Waiting.now + .seconds(1)
    while transfers.contains(where: \.isUnderWay) {
      guard Waiting.now < limit else { return false }
      Waiting.wait(for: descriptors, until: Waiting.now + .milliseconds(20))
      context.handleEvents()
    }
    return true
  }
}
