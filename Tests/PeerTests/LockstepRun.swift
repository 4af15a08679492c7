import Testing

/// What the command is started with.
extension Rig {
  /// Runs scenarios against a lock on somebody's air; all must agree, and the capture must hold to Wireshark's view.
  func agree(
    _ scenarios: [String], transport: String, device: String, options: [String] = [],
    under wrapper: [String] = [],
    within seconds: Double = Rig.responseTimeout
  ) async throws {
    let capture = path("client.btsnoop")
    let command =
      [Place.lockstep, "run"] + scenarios
      + ["--transport", transport, "--device", device, "--capture", capture, "--out", path("Reports")]
      + options
    let output = try await succeed("run", wrapper + command, within: seconds)
    #expect(output.contains(": \(scenarios.count) agree"), "\(output)")
    try await expectWellFormed(capture)
  }

  /// Starts an emulated lock and returns the file with its key.
  func emulateLock(as name: String = "emulate", _ options: String...) async throws -> String {
    let key = path(name == "emulate" ? "key.yaml" : "\(name).yaml")
    try await start(
      name, [Place.lockstep, "emulate", "sesame5", "--key-file", key, "--duration", "600 s"] + options,
      until: "advertising")
    return key
  }

  /// Has Wireshark read a capture: it must see ATT in both directions and nothing malformed.
  func expectWellFormed(_ capture: String) async throws {
    let packets = try await dissect(capture, "btatt")
    let malformed = try await dissect(capture, "_ws.malformed || _ws.short")
    #expect(packets.filter { $0.contains("Sent") }.count > 5, "\(packets.joined(separator: "\n"))")
    #expect(packets.filter { $0.contains("Rcvd") }.count > 5, "\(packets.joined(separator: "\n"))")
    #expect(malformed == [], "\(malformed.joined(separator: "\n"))")
  }

  private func dissect(_ capture: String, _ filter: String) async throws -> [String] {
    try await succeed("tshark", ["/usr/bin/tshark", "-r", capture, "-Y", filter]).split(separator: "\n")
      .map { String($0) }.filter { !$0.hasPrefix("Running as user") }
  }
}
