import CLibUSB

/// A libusb transfer with its buffer, which is reused.
///
/// While the transfer is in flight, libusb holds its address, so its owner may free it only after completion.
@safe final class USBTransfer {
  /// The purpose of the transfer.
  enum Use {
    case event, aclIn, command, aclOut
  }

  let use: Use
  private(set) var isUnderWay = false
  private let transfer: UnsafeMutablePointer<libusb_transfer>
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private unowned let line: USBLine

  /// Creates a transfer that reads up to `size` bytes.
  init?(_ use: Use, endpoint: UInt8, type: libusb_transfer_type, size: Int, timeout: UInt32, of line: USBLine)
  {
    guard let transfer = unsafe libusb_alloc_transfer(0) else { return nil }
    self.use = use
    self.line = line
    unsafe self.transfer = transfer
    unsafe buffer = .allocate(capacity: size)
    unsafe buffer.initialize(repeating: 0)
    unsafe transfer.pointee.endpoint = endpoint
    unsafe transfer.pointee.type = UInt8(type.rawValue)
    unsafe transfer.pointee.timeout = timeout
    unsafe transfer.pointee.buffer = buffer.baseAddress
    unsafe transfer.pointee.length = Int32(size)
    unsafe transfer.pointee.user_data = Unmanaged.passUnretained(self).toOpaque()
    unsafe transfer.pointee.callback = { transfer in
      guard let data = unsafe transfer?.pointee.user_data else { return }
      unsafe Unmanaged<USBTransfer>.fromOpaque(data).takeUnretainedValue().ended()
    }
  }

  deinit {
    precondition(!isUnderWay, "libusb still writes into this buffer")
    unsafe libusb_free_transfer(transfer)
    unsafe buffer.deallocate()
  }
}

extension USBTransfer {
  /// Creates a transfer that writes bytes.
  convenience init?(
    _ use: Use, endpoint: UInt8, type: libusb_transfer_type, bytes: [UInt8], timeout: UInt32, of line: USBLine
  ) {
    self.init(use, endpoint: endpoint, type: type, size: bytes.count, timeout: timeout, of: line)
    _ = unsafe buffer.update(fromContentsOf: bytes)
  }

  /// Submits the transfer to a device.
  func submit(to handle: OpaquePointer) -> Int32 {
    unsafe transfer.pointee.dev_handle = handle
    let status = unsafe libusb_submit_transfer(transfer)
    isUnderWay = status == 0
    return status
  }

  /// Cancels the transfer, so that it completes early.
  func cancel() {
    if isUnderWay { _ = unsafe libusb_cancel_transfer(transfer) }
  }

  /// The result of the transfer.
  var status: libusb_transfer_status { unsafe transfer.pointee.status }

  /// The size of the buffer in bytes.
  var size: Int { unsafe buffer.count }

  /// The bytes that were read.
  var bytes: ArraySlice<UInt8> {
    let count = unsafe min(max(0, Int(transfer.pointee.actual_length)), size)
    return unsafe Array(buffer[..<count])[...]
  }

  private func ended() {
    isUnderWay = false
    line.ended(self)
  }
}
