import Basics
@testable import Bench
import TestSupport
import Testing

/// What is told of a lab, read.
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

  @Test("a lab, as our program in Python tells of it")
  func lab() throws {
    let told = """
      {"result": null, "reservations": [
      {"owner": "vm/me", "state": "allocated", "place": "front-door"},
      {"owner": "vm/you", "state": "waiting", "place": null}], "places": [
      {"name": "front-door", "tags": {"lock": "front-door", "model": "sesame5", "No": "tag"},
      "holder": "vm/me.lockstep-0a1b2c3d", "orphans": ["bench-1/front-door/NetworkService/NetworkService"],
      "resources": []}, {"name": "it's here", "tags": {}, "holder": null, "orphans": [], "resources": []}]}
      """
    let lab = try #require(LabState(JSON(parsing: told)))
    var first = LabPlace(name: "front-door")
    first.tags = [LabTag("lock=front-door")!, LabTag("model=sesame5")!]
    first.holder = "vm/me.lockstep-0a1b2c3d"
    first.orphans = ["bench-1/front-door/NetworkService/NetworkService"]
    expect(lab.places, [first, LabPlace(name: "it's here")])
    #expect(first.has([LabTag("model=sesame5")!, LabTag("name=front-door")!]))
    #expect(!first.has([LabTag("model=sesame4")!]))
    expect(lab.reservations.map(\.owner), ["vm/me", "vm/you"])
    expect(lab.reservations.map(\.state), [.allocated, .waiting])
    expect(lab.reservations.map(\.place), ["front-door", nil])
  }

  @Test(
    "what is not understood is no lab",
    arguments: [
      "{}", #"{"places": []}"#, #"{"places": [{}], "reservations": []}"#,
      #"{"places": [{"name": "a", "tags": {}, "orphans": []}], "reservations": []}"#,
      #"{"places": [], "reservations": [{"owner": "vm/me", "state": "newer"}]}"#,
    ])
  func noLab(told: String) throws { expect(LabState(try JSON(parsing: told)), nil) }

  @Test("whether a place is still ours")
  func loss() {
    var place = LabPlace(name: "front-door")
    #expect(place.loss(for: "vm/me")!.contains("no longer knows a holder"))
    place.holder = "vm/me"
    expect(place.loss(for: "vm/me"), nil)
    place.orphans = ["bench-1/a/b/c"]
    #expect(
      place.loss(for: "vm/me")!.contains(
        "the exporter of the place front-door went away, and with it bench-1/a/b/c"))
    place.holder = "office/admin"
    #expect(place.loss(for: "vm/me")!.contains("held by office/admin now"))
  }

  @Test(
    "a serial port that is no way to a controller is said with its protocol, unless there is another way",
    arguments: [
      (
        ["NetworkSerialPort {'host': 'bench-b', 'port': 4001, 'protocol': 'rfc2217'}"],
        "the protocol rfc2217,"
      ),
      (["NetworkSerialPort {'host': 'bench-b', 'port': 4001}"], "the protocol unknown,"),
      (["NetworkSerialPort {'host': 'bench-b', 'port': 4001, 'protocol': 'raw'}"], nil),
      (
        [
          "NetworkSerialPort {'host': 'bench-b', 'port': 4001, 'protocol': 'rfc2217'}",
          "NetworkService {'address': 'bench-b', 'port': 9001}",
        ], nil
      ),
      (["NetworkPowerPort {'model': 'netio', 'host': 'pdu', 'index': 1}"], nil), ([], nil),
    ] as [([String], String?)])
  func unusablePort(resources: [String], protocol: String?) throws {
    let reason = try Self.place(resources).unusablePort
    expect(reason == nil, `protocol` == nil)
    #expect(reason?.contains(`protocol` ?? "") != false, "\(reason ?? "")")
  }

  @Test(
    "the way to a controller, among the resources of a place",
    arguments: [
      (["LockstepTransport {'transport': 'usb:0A12:0001'}"], "usb:0A12:0001"),
      (
        ["NetworkService {'username': 'x', 'port': 9001, 'address': 'bench-b'}"], "tcp-client:bench-b:9001"
      ),
      (["NetworkService {'port': '9001', 'address': 'fe80::1%eth0'}"], "tcp-client:[fe80::1]:9001"),
      (["NetworkService {'address': 'bench-b', 'port': 22}"], nil),
      (
        ["NetworkSerialPort {'host': 'bench-b', 'port': 4001, 'protocol': 'raw', 'speed': 1000000}"],
        "tcp-client:bench-b:4001"
      ),
      (["NetworkSerialPort {'host': 'bench-b', 'port': 4001, 'protocol': 'rfc2217', 'speed': 9600}"], nil),
      (["NetworkSerialPort {'host': null, 'port': null, 'protocol': 'raw'}"], nil),
      (["NetworkPowerPort {'model': 'netio', 'host': 'pdu', 'index': 1}"], nil), ([], nil),
      (
        [
          "NetworkService {'address': 'b', 'port': 1}",
          "LockstepTransport {'transport': 'serial:/dev/ttyS0,9600'}",
        ], "serial:/dev/ttyS0,9600"
      ),
    ])
  func transport(resources: [String], transport: String?) throws {
    expect(try Self.place(resources).offeredTransport, transport)
  }

  private static func place(_ resources: [String]) throws -> LabPlace {
    var place = LabPlace(name: "a")
    place.resources = try resources.map { text in
      let sides = text.split(separator: " ", maxSplits: 1)
      let parameters = try JSON(parsing: String(sides[1]).replacing("'", with: "\""))
      return try #require(LabResource(["class": .text(String(sides[0])), "parameters": parameters]))
    }
    return place
  }
}
