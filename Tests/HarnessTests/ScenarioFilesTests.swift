import Foundation
import TestSupport
import Testing

@testable import Harness

@Suite("Which files are scenarios")
struct ScenarioFilesTests {
  /// The text of a file, its name, and what it is taken for.
  // swift-format-ignore
  static let kinds: [(text: String, name: String, kind: DocumentKind?)] = [
    ("scenario: A\nmachine: door\nsteps: [Open]\n", "a.yaml", .scenario),
    ("# of a door\nmachine: door\ndevice: door\nsteps: [Open]\n", "a.yaml", .scenario),
    ("machine: m\nstates: [a]\nsteps: 3\n", "a.yaml", .machine),
    ("\u{FEFF}machine: m\ntitle: M\nstates: [a]\n", "a.yaml", .machine),
    ("\"machine\": m\n'states': [a]\n", "a.yaml", .machine),
    ("machine : m\nstates : [a]\n", "a.yaml", .machine),
    ("# M\n{ machine: m, states: [a], events: [e] }\n", "a.yaml", nil),
    ("{ machine: m, states: [a], events: [e] }\n", "a.yaml", .machine),
    ("\u{FEFF}\n  {\"scenario\": \"A\", \"machine\": \"door\", \"steps\": []}\n", "a.yaml", .scenario),
    ("{ machine: m, states: [a\n", "a.yaml", nil),
    ("machine: m\n  states: [a]\n", "a.yaml", nil),
    ("digraph {}", "m.dot", .machine), ("digraph {}", "m.gv", .machine),
    ("\u{FEFF}profiles:\n  default: {}\n", ".lockstep.yaml", .settings),
    ("bench: b\nlocks: []\n", "bench.yaml", .equipment),
    ("# A night\nnightly: n\nbench: bench.yaml\nsuites: []\n", "n.yaml", .equipment),
    ("driver: python3 d.py\nmachine: m.yaml\n", "d.lock.yaml", .equipment),
    ("model: sesame5\nsecret: 00\n", "s.lock.yaml", .equipment),
    ("bench: press\nweight: 3\n", "gym.yaml", nil), ("steps: [a]\nstates: [b]\nlocks: [c]\n", "x.yaml", nil),
    ("scenraio: A\nmachine: door\nsteps: [Open]\n", "a.yaml", .scenario),
    ("scenraio: A\nmachine: door\nstep: [Open]\n", "a.yaml", nil), ("", "a.yaml", nil),
    ("Scenario: A\nmachine: door\nsteps: [Open]\n", "a.yaml", .scenario),
  ]

  @Test("a document is told by its keys, also where it cannot be read", arguments: kinds)
  func kind(text: String, name: String, kind: DocumentKind?) {
    expect(DocumentKind(recognizing: Array(text.utf8), name: name), kind)
  }

  @Test("what a run saves is none of the scenarios of the folder it is in, unless it is named")
  func results() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for name in ["a.yaml", "Out/failures/b.yaml", "Outer/c.yaml", "deep/al/d-attachment.yaml"] {
      let file = root.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("scenario: A\n".utf8).write(to: file)
    }
    try FileManager.default.createSymbolicLink(
      at: root.appending(path: "link"), withDestinationURL: root.appending(path: "Out"))
    let path = root.path
    func found(_ places: [String], _ results: [String]) -> [String] {
      ScenarioFiles.find(places.map { path + $0 }, besides: results.map { path + $0 }).files
        .map { String($0.dropFirst(path.count + 1)) }
    }
    expect(found([""], []).count, 4)
    expect(found([""], ["/Out", "/deep/al"]), ["Outer/c.yaml", "a.yaml"])
    expect(found([""], ["/link"]), ["Outer/c.yaml", "a.yaml", "deep/al/d-attachment.yaml"])
    expect(found(["/Out"], ["/Out"]), ["Out/failures/b.yaml"])
    expect(found(["/Out/failures"], ["/Out"]), ["Out/failures/b.yaml"])
    expect(found(["/Out/failures/b.yaml", ""], ["/Out"]).count, 4)
    expect(found([""], [""]).count, 4)
    expect(found([""], ["/nowhere"]).count, 4)
  }
}
