import System
import Journal
import Bench
import Conformance

/// The places of a lab for a night: each replaces a dongle and leads to one lock.
struct NightlyPlaces: Sendable {
  /// The lab, and how long a run of the night waits for its place.
  let request: Reservation.Request
  /// The place of each lock, by the lock's name.
  let places: [String: LabPlace]

  /// Queries a lab for its places and joins them with the locks of a bench, by the tag `lock=NAME`.
  ///
  /// Unmatched locks and places are reported.
  init(
    _ request: Reservation.Request, _ bench: BenchFile, _ messages: StatusLine
  ) throws(NoPlace) {
    self.request = request
    let address = request.address
    let found: [LabPlace]
    do throws(LabFault) {
      found = try Reservation.places(with: request.tags, at: address)
    } catch {
      throw .lab("\(error)", .labFault)
    }
    let inventory = bench.inventory
    var places: [String: LabPlace] = [:]
    var unknown: [String] = []
    for place in found.sorted(by: { $0.name < $1.name }) {
      guard let name = place.tag("lock") else {
        unknown.append("\(place.name) (no tag lock=NAME)")
        continue
      }
      guard let lock = inventory.lock(name), case .file = lock.source else {
        unknown.append("\(place.name) (lock=\(name) is no real lock of the bench \(inventory.name))")
        continue
      }
      if let other = places.updateValue(place, forKey: name) {
        let both = "the places \(other.name) and \(place.name) of \(address)"
        throw .usage(UsageError("\(both) both have the tag lock=\(name)"))
      }
    }
    self.places = places
    if !unknown.isEmpty {
      messages.say("lockstep: places that are not used: \(unknown.joined(separator: ", "))".inOneLine)
    }
    guard !places.isEmpty else {
      throw .lab(
        "no device: no place of \(address) has a real lock of the bench \(inventory.name)", .labFault)
    }
    let others = inventory.locks.map(\.name).filter { places[$0] == nil }
    if !others.isEmpty {
      messages.say(
        "lockstep: not part of this night, since none of its places has them: \(others.joined(separator: ", "))"
          .inOneLine)
    }
  }
}
