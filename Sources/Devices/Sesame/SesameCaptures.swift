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
    With the lock's key what was encrypted is read: always for a Sesame 5 or 6, whose session keys follow from it. The
    key of a Sesame 3 or 4 only opens the door to a session: what is said there can be read where the capture has the
    registration. Keys, and what they follow from, are shown as **.
    """
  }
}

extension LockCaptureDecoder: FamilyReader {}
