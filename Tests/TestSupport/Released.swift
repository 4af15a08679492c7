import Foundation

/// What holds something that was let go of: what another test starts at the same moment holds it, too, until it is a program of
/// its own. After ten seconds it is what there is.
public func onceReleased<Holder>(_ holder: () throws -> Holder?) rethrows -> Holder? {
  let limit = Date(timeIntervalSinceNow: 10)
  while true {
    let found = try holder()
    guard found != nil, Date() < limit else { return found }
    Thread.sleep(forTimeInterval: 0.001)
  }
}
