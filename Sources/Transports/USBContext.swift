import System
import Bluetooth
import CLibUSB
import Glibc
import Basics

/// A libusb context, with its own event sources.
@safe final class USBContext {
  let pointer: OpaquePointer

  init() throws(TransportFault) {
    var context: OpaquePointer?
    let status = unsafe libusb_init(&context)
    guard status == 0, let context = unsafe context else {
      throw TransportFault(.unavailable, "USB cannot be used (\(usbErrorText(status)))")
    }
    unsafe pointer = context
  }

  deinit { unsafe libusb_exit(pointer) }
}

extension USBContext {
  /// The descriptors to poll for progress of the transfers.
  var descriptors: [(descriptor: Int32, events: Int16)] {
    guard let list = unsafe libusb_get_pollfds(pointer) else { return [] }
    defer { unsafe libusb_free_pollfds(list) }
    var descriptors: [(descriptor: Int32, events: Int16)] = []
    var next = unsafe list
    while let entry = unsafe next.pointee {
      unsafe descriptors.append((entry.pointee.fd, entry.pointee.events))
      unsafe next += 1
    }
    return descriptors
  }

  /// When the next transfer times out; `nil` if none does, or if a descriptor signals it.
  var deadline: Instant? {
    guard unsafe libusb_pollfds_handle_timeouts(pointer) == 0 else { return nil }
    var time = timeval()
    guard unsafe libusb_get_next_timeout(pointer, &time) == 1 else { return nil }
    return Waiting.now + .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
  }

  /// Runs the callbacks of all completed transfers, without waiting.
  func handleEvents() {
    var time = timeval()
    _ = unsafe libusb_handle_events_timeout_completed(pointer, &time, nil)
  }
}

/// Returns libusb's description of an error.
func usbErrorText(_ status: Int32) -> String {
  guard let text = unsafe libusb_strerror(status) else { return "error \(status)" }
  return unsafe String(cString: text)
}
