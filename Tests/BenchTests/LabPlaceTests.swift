@testable import Bench
import TestSupport
import Testing

/// What labgrid's own client prints, read.
@Suite("Places of a lab")
struct LabPlaceTests {
  @Test(
    "an address of a coordinator",
    arguments: [
      ("labgrid://lab", "lab:20408"), ("labgrid://lab:7", "lab:7"),
      ("labgrid://127.0.0.1:20411/", "127.0.0.1:20411"),
      ("labgrid://[::1]", "[::1]:20408"), ("labgrid://[fe80::1%eth0]:9", "[fe80::1%eth0]:9"),
    ])
  func address(text: String, endpoint: String) throws {
    let address = try #require(LabAddress(text))
    expect(address.endpoint, endpoint)
    expect(LabAddress(address.description), address)
  }

  @Test(
    "what is none",
    arguments: [
      "", "lab", "labgrid://", "labgrid://:1", "labgrid://lab:", "labgrid://lab:0", "labgrid://lab:65536",
      "labgrid://lab:+1", "labgrid://a b", "labgrid://[::1", "labgrid://[::1]x", "labgrid://::1",
      "http://lab",
      "labgrid://-x y", "labgrid://lab;rm",
    ])
  func noAddress(text: String) { expect(LabAddress(text), nil) }

  @Test("tags, as labgrid takes them")
  func tags() {
    expect(
      LabTag.list("model=sesame5,lock=/keys/a.yaml")?.map(\.description),
      ["model=sesame5", "lock=/keys/a.yaml"])
    for text in ["", "model", "=x", "model=", "m=x", "Model=x", "model=a=b", "model=x,", "model=a b", "1x=y"]
    {
      expect(LabTag.list(text)?.count, nil)
    }
  }

  private static let shown = """
    Place 'front-door':
      aliases: door
      tags: lock=front-door, model=sesame5
      matches:
        bench-1/front-door/*
      acquired: vm/me.lockstep-0a1b2c3d
      acquired resources:
        bench-1/front-door/NetworkService/NetworkService
      created: 2026-11-22 08:51:01.479470
      changed: 2026-11-22 09:03:40.425442
      reservation: MY9KH1NLNH
    Orphaned resource 'NetworkService' (bench-1/front-door/NetworkService/NetworkService)
    Place 'it's here':
      matches:
      acquired: None
      acquired resources:
    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

  @Test("places, as 'show' and 'places' print them")
  func places() {
    var first = LabPlace(name: "front-door")
    first.tags = [LabTag("lock=front-door")!, LabTag("model=sesame5")!]
    first.holder = "vm/me.lockstep-0a1b2c3d"
    first.orphans = ["bench-1/front-door/NetworkService/NetworkService"]
    expect(LabPlace.read(Self.shown), [first, LabPlace(name: "it's here")])
    #expect(first.has([LabTag("model=sesame5")!, LabTag("name=front-door")!]))
    #expect(!first.has([LabTag("model=sesame4")!]))
  }

  @Test("whether a place is still ours")
  func loss() {
    var place = LabPlace(name: "front-door")
    #expect(place.loss(for: "vm/me")!.contains("knows no holder"))
    place.holder = "vm/me"
    expect(place.loss(for: "vm/me"), nil)
    place.orphans = ["bench-1/a/b/c"]
    #expect(
      place.loss(for: "vm/me")!.contains(
        "the exporter of the place front-door went away, and with it bench-1/a/b/c"))
    place.holder = "office/admin"
    #expect(place.loss(for: "vm/me")!.contains("held by office/admin now"))
  }

  @Test("reservations, as 'reservations' prints them, and as 'wait' does, of whose lines the last count")
  func reservations() {
    let listed = """
      Reservation 'AAA':
        owner: vm/me
        token: AAA
        state: allocated
        filters:
          main: model=sesame5
        allocations:
          main: front-door
        created: 2026-11-22 09:03:39.911710
        timeout: 2026-11-22 09:04:43.929797
      Reservation 'BBB':
        owner: vm/you
        token: BBB
        state: waiting
        filters:
          main: name=front-door
        created: 2026-11-22 08:53:27.375330
      """
    var first = LabReservation(token: "AAA")
    (first.owner, first.state, first.place) = ("vm/me", "allocated", "front-door")
    var second = LabReservation(token: "BBB")
    (second.owner, second.state) = ("vm/you", "waiting")
    func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
    expect(LabReservation.read(lines(listed)), [first, second])
    func waited(_ state: String, _ rest: String = "") -> String {
      "owner: vm/me\ntoken: AAA\nstate: \(state)\nfilters:\n  main: model=sesame5\n\(rest)created: x\ntimeout: y\n"
    }
    let shown =
      waited("waiting") + waited("waiting") + waited("allocated", "allocations:\n  main: front-door\n")
    expect(LabReservation.read(lines(shown)), [first])
    expect(LabReservation.read([]), [])
  }

  @Test(
    "the way to a controller, among the resources of a place",
    arguments: [
      ("    - LockstepTransport:\n        transport: usb:0A12:0001\n", "usb:0A12:0001"),
      (
        "    - NetworkService:\n        username: x\n        port: 9001\n        address: bench-b\n",
        "tcp-client:bench-b:9001"
      ),
      (
        "    - NetworkService: {address: 'fe80::1%eth0', username: x, port: 9001}\n",
        "tcp-client:[fe80::1]:9001"
      ),
      ("    - NetworkService: {address: bench-b, username: x, port: 22}\n", nil),
      (
        "    - NetworkSerialPort: {host: bench-b, port: 4001, protocol: raw, speed: 1000000}\n",
        "tcp-client:bench-b:4001"
      ),
      ("    - NetworkSerialPort: {host: bench-b, port: 4001, protocol: rfc2217, speed: 9600}\n", nil),
      ("    - NetworkSerialPort: {host: null, port: null, protocol: raw}\n", nil),
      ("    - NetworkPowerPort: {model: netio, host: pdu, index: 1}\n", nil), ("", nil),
      (
        "    - NetworkService: {address: b, username: x, port: 1}\n    - LockstepTransport: {transport: 'serial:/dev/ttyS0,9600'}\n",
        "serial:/dev/ttyS0,9600"
      ),
    ])
  func transport(resources: String, transport: String?) throws {
    let lines = ("targets:\n  front-door:\n    resources:\n" + resources).split(separator: "\n").map(
      String.init)
    expect(try LabTransport.read(lines), transport)
  }
}
