import TestSupport
import Testing

@Suite("Broken rules, as the command says them", .timeLimit(.minutes(10)))
struct ViolationCommandTests {
  private static let login = """
    scenario: A login
    machine: sesame
    device: { lock: sesame5, registered: true, configured: true }
    steps:
      - closeTo
      - connect
      - until: { status: locked }

    """

  @Test("a divergence by its name, with the packet, for people and for programs")
  func divergence() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/login.yaml", Self.login)
    let device = "emulator:sesame5?defect=publish-before-login"
    let result = try Command.call("run", "--seed", "1", "--device", device, in: folder.path)
    expect(result.status, 1)
    for words in [
      "the device broke a rule: clear-text: mech status in clear\n",
      "packet  9 bytes of the device, 0851b80b0080000012\n",
    ] {
      #expect(result.output.contains(words), "\(result.output)")
    }
    let data = try Command.call(
      "run", "--seed", "1", "--device", device, "--format", "json", in: folder.path)
    #expect(
      data.output.contains(
        #""violation":"clear-text","of":"mech status","detail":"mech status in clear","packet":"0851b80b0080000012","from":"device""#
      ), "\(data.output)")
    #expect(
      try folder.read("Reports/junit.xml").contains(#"name="lockstep.violation" value="clear-text""#))
  }

  @Test("a known habit is a diagnostic: the case agrees")
  func diagnostic() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/login.yaml", Self.login)
    let result = try Command.call(
      "run", "--seed", "1", "--device", "emulator:sesame5?initial=twice", in: folder.path)
    expect(result.status, 0)
    #expect(
      result.output.contains(
        "  diagnostic   Scenarios/login.yaml: token-again: a token in the middle of a connection; known: locks "
      ),
      "\(result.output)")
    #expect(try folder.read("Reports/junit.xml").contains("violation token-again"))
  }
}
