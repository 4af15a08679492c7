import Glibc
import Testing

/// A USB dongle that umockdev pretends, under the real libusb; the controller in it is Bumble's.
@Suite("A USB dongle", .timeLimit(.minutes(10)))
struct DongleTests {
  @Test("a lock is found, unlocked and locked through it", .needs(.bumble, .umockdev, .tshark))
  func run() async throws {
    let rig = try await Rig(.bumble, .umockdev, .tshark)
    let key = try rig.writeKey()
    let dongle = try await rig.makeDongle(key)
    try await rig.agree(
      ["Scenarios/peers/there-and-back.yaml"], carrier: "usb:0", device: "lock:\(key)", under: dongle)
  }

  @Test("pulled out, it is trouble of the lab and not of the lock", .needs(.bumble, .umockdev))
  func unplugged() async throws {
    let rig = try await Rig(.bumble, .umockdev)
    let key = try rig.writeKey()
    let dongle = try await rig.makeDongle(key)
    let command = [
      Place.lockstep, "run", "Scenarios/sesame5/forty-turns.yaml", "--carrier", "usb:0", "--device",
      "lock:\(key)", "--out", rig.path("Reports"),
    ]
    let run = try await rig.start("run", dongle + command) { _ in rig.log(of: "lock").contains("unlock") }
    run.signal(SIGUSR1)
    let status = try await run.ended(within: 60)
    #expect(status == 3, "\(run.output)")
    #expect(run.output.contains("usb:0 was unplugged"), "\(run.output)")
  }
}
