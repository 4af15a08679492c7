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
      ["Scenarios/peers/there-and-back.yaml"], transport: "usb:0", device: "lock:\(key)", under: dongle)
  }

  @Test("pulled out, it is trouble of the lab and not of the lock", .needs(.bumble, .umockdev))
  func unplugged() async throws {
    let rig = try await Rig(.bumble, .umockdev)
    let key = try rig.writeKey()
    let dongle = try await rig.makeDongle(key)
    let command = [
      Place.lockstep, "run", "Scenarios/sesame5/forty-turns.yaml", "--transport", "usb:0", "--device",
      "lock:\(key)", "--out", rig.path("Reports"),
    ]
    let run = try await rig.start("run", dongle + command) { _ in rig.log(of: "lock").contains("unlock") }
    run.signal(SIGUSR1)
    let status = try await run.ended()
    #expect(status == 3, "\(run.output)")
    #expect(run.output.contains("usb:0 was unplugged"), "\(run.output)")
  }

  @Test("pulled out during a scan, it is trouble of the lab", .needs(.umockdev))
  func unpluggedWhileScanning() async throws {
    let rig = try await Rig(.umockdev)
    let dongle = try await rig.makeOwnDongle().wrapper
    let scan = try await rig.start(
      "scan", dongle + [Place.lockstep, "scan", "--transport", "usb:0", "--duration", "600s"],
      until: "Sesame 5")
    scan.signal(SIGUSR1)
    let status = try await scan.ended()
    #expect(status == 3, "\(scan.output)")
    #expect(scan.output.contains("usb:0 was unplugged"), "\(scan.output)")
  }

  @Test("pulled out and put back, the run goes on with it, and not with its twin", .needs(.umockdev))
  func pluggedInAgain() async throws {
    let rig = try await Rig(.umockdev)
    let (dongle, key) = try await rig.makeOwnDongle()
    let visit = try rig.writeVisit()
    let command = [
      Place.lockstep, "run", "Scenarios/sesame5/forty-turns.yaml", visit, "--transport", "usb:0", "--device",
      "lock:\(key)", "--out", rig.path("Reports"),
    ]
    let run = try await rig.start("run", dongle + command) { _ in
      rig.log(of: "emulate").contains("notifications on")
    }
    run.signal(SIGUSR1)
    try await Task.sleep(for: .milliseconds(500))
    run.signal(SIGUSR2)
    let status = try await run.ended()
    #expect(status == 3, "\(run.output)")
    for line in [
      "usb:0 was unplugged", "usb:0 is not plugged in; there is usb:1-3",
      "recovery, step 3 of 4: reopen helped",
      "2 cases: 1 agree, 1 in trouble", "given back",
    ] { #expect(run.output.contains(line), "\(run.output)") }
  }

  @Test("hung until it is reset on its bus, it is reset, and the run goes on with it", .needs(.umockdev))
  func hung() async throws {
    let rig = try await Rig(.umockdev)
    let (dongle, key) = try await rig.makeOwnDongle()
    let output = try await rig.runThroughHang(
      dongle, ["--transport", "usb:0", "--device", "lock:\(key)"], signals: 1)
    for line in [
      "recovery, step 1 of 4: reconnect failed after", "recovery, step 2 of 4: HCI reset failed after",
      "recovery, step 3 of 4: reopen failed after", "bridge: reset",
      "recovery, step 4 of 4: USB reset helped, after", "2 cases: 1 agree, 1 in trouble", "given back",
    ] { #expect(output.contains(line), "\(output)") }
  }

  @Test("hung for good, its power is turned off and on, as its bus shows", .needs(.umockdev))
  func switched() async throws {
    let rig = try await Rig(.umockdev)
    let (dongle, key) = try await rig.makeOwnDongle()
    // Our parent holds the dongle: it is the parent of the one who runs the command.
    let hub = "kill -s USR%d $(cut -d ' ' -f 4 /proc/$PPID/stat)"
    let bench = try rig.write(
      "bench.yaml",
      """
      bench: test
      dongles: [{ name: blue, transport: "usb:0", power: hub }]
      switches: [{ name: hub, off: "\(hub.replacing("%d", with: "1"))", on: "\(hub.replacing("%d", with: "2"))" }]
      locks: [{ name: door, file: \(key) }]

      """)
    let output = try await rig.runThroughHang(
      dongle, ["--bench", bench, "--device", "lock:door"], signals: 2)
    for line in [
      "recovery, step 4 of 5: USB reset failed after", "bridge: unplugged", "the power of hub fell",
      "bridge: plugged in", "recovery, step 5 of 5: power cycle helped, after",
      "2 cases: 1 agree, 1 in trouble", "given back",
    ] { #expect(output.contains(line), "\(output)") }
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
        let scan = [Place.lockstep, "scan", "--transport", text, "--duration", "3s"]
        let result = try await rig.run("scan", dongle + scan)
        #expect(result.status == status, "\(text): \(result.output)")
        for word in words { #expect(result.output.contains(word), "\(text): \(result.output)") }
      }
    }
  }
}

extension Rig {
  /// Writes a scenario that only looks.
  fileprivate func writeVisit() throws -> String {
    try write(
      "visit.yaml",
      """
      scenario: A visit
      machine: sesame
      device: { lock: sesame5, registered: true, configured: true }
      steps: [closeTo, connect, { until: { status: [locked, unlocked] } }, disconnect]

      """)
  }

  /// Drives two cases, in the first of which the dongle hangs, and gives what was said.
  fileprivate func runThroughHang(
    _ dongle: [String], _ options: [String], signals: Int
  ) async throws -> String {
    let command =
      [
        Place.lockstep, "run", "Scenarios/sesame5/forty-turns.yaml", try writeVisit(), "--out",
        path("Reports"),
      ]
      + options
    let run = try await start("run", dongle + command) { _ in
      log(of: "emulate").contains("notifications on")
    }
    for _ in 0..<signals {
      run.signal(SIGHUP)
      // Two of one kind at once would be one.
      try await Task.sleep(for: .milliseconds(100))
    }
    let status = try await run.ended()
    #expect(status == 3, "\(run.output)")
    return run.output
  }
}
