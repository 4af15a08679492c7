import LockFiles
import Sesame

extension SesameLocks {
  func reader() -> any FamilyReader { LockCaptureDecoder() }

  func reader(of file: LockFile) -> (any FamilyReader)? {
    guard let lock = file.lock as? SesameLock, let key = lock.key else { return nil }
    return LockCaptureDecoder(keys: [key], model: lock.model)
  }

  var captureHelp: String {
    """
    With the key of the lock, encrypted messages are decoded too: always for a Sesame 5 or 6, whose session keys are derived
    from that key. For a Sesame 3 or 4, this is only possible if the capture contains the registration. Keys, and the
    values from which they are derived, are shown as **.
    """
  }
}

extension LockCaptureDecoder: FamilyReader {}
