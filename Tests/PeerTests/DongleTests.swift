import Glibc
import Testing

/// A USB dongle that umockdev pretends, under the real libusb. The controller in it is Bumble's or, where only the way
/// to it matters, our own.
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

  @Test("pulled out during a scan, it is trouble of the lab", .needs(.umockdev))
  func unpluggedWhileScanning() async throws {
    let rig = try await Rig(.umockdev)
    let dongle = try await rig.makeOwnDongle().wrapper
    let scan = try await rig.start(
      "scan", dongle + [Place.lockstep, "scan", "--carrier", "usb:0", "--duration", "30s"],
      until: "Sesame 5")
    scan.signal(SIGUSR1)
    let status = try await scan.ended(within: 5)
    #expect(status == 3, "\(scan.output)")
    #expect(scan.output.contains("usb:0 was unplugged"), "\(scan.output)")
  }

  @Test("pulled out and put back, the run goes on with it, and not with its twin", .needs(.umockdev))
  func pluggedInAgain() async throws {
    let rig = try await Rig(.umockdev)
    let (dongle, key) = try await rig.makeOwnDongle()
    let visit = try rig.write(
      "visit.yaml",
      """
      scenario: A visit
      machine: sesame
      device: { lock: sesame5, registered: true, configured: true }
      steps: [closeTo, connect, { until: { status: [locked, unlocked] } }, disconnect]

      """)
    let command = [
      Place.lockstep, "run", "Scenarios/sesame5/forty-turns.yaml", visit, "--carrier", "usb:0", "--device",
      "lock:\(key)", "--out", rig.path("Reports"),
    ]
    let run = try await rig.start("run", dongle + command) { _ in
      rig.log(of: "emulate").contains("notifications on")
    }
    run.signal(SIGUSR1)
    try await Task.sleep(for: .milliseconds(500))
    run.signal(SIGUSR2)
    let status = try await run.ended(within: 60)
    #expect(status == 3, "\(run.output)")
    for line in [
      "usb:0 was unplugged", "usb:0 is not plugged in; there is usb:1-3", "recovery, rung 3 of 4: reopen helped",
      "2 cases: 1 agree, 1 in trouble", "given back",
    ] { #expect(run.output.contains(line), "\(run.output)") }
  }

  @Test(
    "it is picked by place, bus and serial number, and the kernel gets it back after use", .needs(.umockdev))
  func selection() async throws {
    let rig = try await Rig(.umockdev)
    let dongle = try await rig.makeOwnDongle().wrapper
    let choices: [(texts: [String], status: Int32, words: [String])] = [
      (
        ["usb:0", "usb:1-2", "usb:0A12:0001/LAB0001"], 0,
        ["driver was detached", "Sesame 5", "driver was given back"]
      ),
      (
        ["usb:1", "usb:1-3", "usb:0A12:0001#1", "usb:0A12:0001/LAB0002"], 3,
        ["the dongle at 1-3 cannot be used"]
      ),
      (
        ["usb:2", "usb:1-4", "usb:0A12:0001/LAB0003"], 3,
        ["is not plugged in; there is usb:1-2 (0A12:0001), usb:1-3 (0A12:0001)"]
      ),
    ]
    for (texts, status, words) in choices {
      for text in texts {
        let scan = [Place.lockstep, "scan", "--carrier", text, "--duration", "1s"]
        let result = try await rig.run("scan", dongle + scan)
        #expect(result.status == status, "\(text): \(result.output)")
        for word in words { #expect(result.output.contains(word), "\(text): \(result.output)") }
      }
    }
  }
}
