import Foundation
import Journal
import TestSupport
import Testing

@Suite("What reports say of a finding, and of what is not as expected", .timeLimit(.minutes(10)))
struct FindingTests {
  /// A device of each kind that a project can have, with the bug that is planted there.
  private static let devices: [(kind: String, device: String, isRadio: Bool, time: String)] = [
    ("exec", "exec:python3 device.py bug", false, "virtual"),
    ("exec", "exec:python3 device.py bug", false, "real"),
    ("driver", "driver:python3 driver.py?peripheral=python3 lock.py bug", true, "virtual"),
  ]

  @Test(
    "a finding has its steps, what model and device held, its packets and its log, whatever the device",
    arguments: devices.indices)
  func whole(index: Int) throws {
    let (kind, device, isRadio, time) = Self.devices[index]
    let folder = try Command.Folder()
    expect(try Command.call("new", "p", "--kind", kind, in: folder.path).status, 0)
    if !isRadio {
      let program = try folder.read("p/device.py")
      try folder.write(
        "p/device.py",
        program.replacing("Device(\"", with: "Device(time=\"\(time)\", name=\"")
          .replacing("    lock.wrong += 1\n", with: "    lock.log(\"wrong <code>\")\n    lock.wrong += 1\n"))
    }
    let fuzz = try Command.call(
      "fuzz", "p.yaml", "--device", device, "--seed", "3", "--steps", "5000", in: folder.path + "/p")
    expect(fuzz.status, 1)
    let sentence = try #require(
      fuzz.output.split(separator: "\n").first { $0.hasSuffix("the device showed shutOut.") })
    #expect(
      sentence.contains("enter user anna code") && sentence.contains("locked") == isRadio, "\(fuzz.output)")

    let run = try #require(folder.names("p/Reports/runs").first)
    let lines = try folder.read("p/Reports/runs/\(run)/journal.jsonl").split(separator: "\n")
    let records = try lines.map { try Record(parsing: Array($0.utf8).span) }
    let begin = try #require(
      records.firstIndex { if case .begin(let test) = $0 { test.id.hasPrefix("failures/") } else { false } })
    let end = try #require(records.firstIndex { if case .verdict = $0 { true } else { false } })
    let events = records[begin..<end].compactMap { record -> Record.Event? in
      if case .event(let event) = record { event } else { nil }
    }
    guard case .verdict(let verdict) = records[end] else { return }
    #expect(events.contains { $0.kind == .model && $0.statuses == ["locked"] }, "\(lines)")
    #expect(events.contains { $0.kind == .stimulus && ($0.line ?? 0) > 0 }, "\(lines)")
    #expect(!isRadio == events.contains { $0.diagnostic == "the program said: wrong <code>" }, "\(lines)")
    #expect((verdict.line ?? 0) > 0 && (verdict.observations ?? 0) > 0, "\(lines)")
    #expect(isRadio == verdict.attachments.contains { $0.kind == "packets" }, "\(lines)")
    #expect(sentence.contains(verdict.sentence ?? "none"))

    let junit = try folder.read("p/Reports/junit.xml")
    #expect(junit.contains("\" line=\"\(verdict.line ?? 0)\" time="), "\(junit)")
    #expect(junit.contains("\n\n\(verdict.sentence ?? "")</failure>"), "\(junit)")
    let page = try folder.read("p/Reports/report.html")
    #expect(page.contains("<p class=\"aloud\">\(verdict.sentence ?? "")</p>"))
    #expect(isRadio == page.contains("class=\"packets\""))
  }

  @Test("what is not as expected is no divergence, in any report, and all of it is named")
  func expectations() throws {
    let folder = try Command.Folder()
    expect(try Command.call("new", "p", "--kind", "exec", in: folder.path).status, 0)
    for (file, old, new) in [
      ("p.yaml", "  - readLog\n", "  - readLog\n  - readBattery\n"),
      ("p.yaml", "readings: { log: *log }", "readings: { log: *log, battery: number }"),
      ("p.yaml", "transitions:\n", "transitions:\n  - { event: readBattery, from: \"*\", to: \"=\" }\n"),
      ("device.py", "[\"log\"]", "[\"log\", \"battery\"]"),
      (
        "device.py", "lock.run()",
        "@lock.stimulus\ndef readBattery():\n    lock.reading(\"battery\", 5.9)\n\n\nlock.run()"
      ),
    ] {
      let text = try folder.read("p/" + file)
      #expect(text.contains(old), "\(file)")
      try folder.write("p/" + file, text.replacing(old, with: new))
    }
    let scenario = try folder.read("p/scenarios/opens.yaml").split(separator: "\n")
    let head = scenario.filter { $0.hasPrefix("machine") || $0.hasPrefix("device") }.joined(separator: "\n")
    try folder.write(
      "p/scenarios/more.yaml",
      "scenario: More <is> asked\n\(head)\nsteps:\n  - enter: { user: anna, code: x }\n  - readBattery\n"
        + "  - expect: { status: [unlocked, shutOut], battery: { above: 6 } }\n")
    let words = "expected status unlocked or shutOut, got locked; expected battery above 6.0, got 5.9"
    let message = "the model agrees; the scenario asks for more: \(words)"
    let result = try Command.call(
      "run", "scenarios", "--allure", "allure", "--annotations", "github",
      in: folder.path + "/p")
    expect(result.status, 1)
    #expect(
      result.output.hasPrefix(
        """
        ≠ scenarios/more.yaml:7   not as expected at step 3, t = 0.000 s
            \(message)
            after   readBattery
            - status: unlocked or shutOut
            + status: locked
            - battery: above 6.0
            + battery: 5.9

        """), "\(result.output)")
    #expect(result.output.contains("4 cases: 3 agree, 1 not as expected "), "\(result.output)")
    // swift-format-ignore
    let texts: [(file: String, words: String)] = [
      (
        "p/Reports/junit.xml",
        "<failure type=\"expectation\" message=\"\(message)\">step 3, t = 0.000 s, scenarios/more.yaml:7\n"
      ),
      ("p/Reports/junit.xml", "file=\"scenarios/more.yaml\" line=\"7\""),
      ("p/Reports/report.html", "<h1>1 of 4 cases not as expected</h1>"),
      ("p/Reports/report.html", "<span class=\"badge unmet\">≠ not as expected</span>"),
      (
        "p/Reports/report.html",
        "<td><span class=\"chip want\">− above 6.0</span></td><td><span class=\"chip bad\">+ 5.9</span></td>"
      ),
      ("p/allure/categories.json", "\"messageRegex\":\"the model agrees; the scenario asks for more.*\""),
    ]
    for (file, words) in texts { #expect(try folder.read(file).contains(words), "\(file) lacks \(words)") }
    #expect(result.errors.contains("not as expected at step 3::\(message)"), "\(result.errors)")
    for text in [try folder.read("p/Reports/junit.xml"), result.errors] {
      #expect(!text.contains("diverge"), "\(text)")
    }
    let runs = try Command.call("history", "runs", "--format", "json", in: folder.path + "/p").output
    #expect(runs.contains("\"divergences\":0,\"unmet\":1"), "\(runs)")
    let failures = try Command.call("history", "failures", in: folder.path + "/p").output
    #expect(failures.contains("≠ \(message)"), "\(failures)")
  }
}
