@testable import Devices
import Bench
import Basics
import Conformance
import Foundation
import Harness
import SesameDevice
import TestSupport
import Testing

@Suite("A driver's lock on a bench")
struct DriverLocksTests {
  private let folder = TestFolder()

  private func spec(_ text: String = "driver: ./keypad\nmachine: door\nid: KP-0042\n") -> DeviceSpec {
    DeviceSpec(.lock, folder.write("lock.yaml", text))
  }

  @Test("it is known by its file before anybody speaks to it")
  func described() throws {
    let spec = spec()
    let bench = LockBench(LabSettings())
    let description = try bench.describe(spec.name)
    expect(description.machines, ["door"])
    expect(description.abilities.stimuli, nil)
    expect(description.abilities.settings, nil)
    expect(bench.identity(of: spec), "KP-0042")
    expect(bench.twin(of: spec.name), nil)
  }

  @Test("its family is what its driver says, and a Sesame's is known")
  func families() throws {
    let bench = LockBench(LabSettings())
    do throws(LabFault) {
      _ = try bench.family(of: spec())
      Issue.record("no driver was asked")
    } catch {
      #expect(error.symptom == .noDevice && error.detail.contains("exit status 127, of ./keypad"), "\(error)")
    }
    folder.write(
      "keypad",
      #"""
      #!/bin/sh
      read line
      echo '{"hello":{"protocol":2,"stimuli":["hear","call","shut","open","hang up","kick"],"moves":["kick"],
      "requests":{"hear":"listen","call":"connect","shut":"lock","open":"unlock","hang up":"leave"},
      "meanings":{"gone":"away","near":"heard","closed":"locked","opened":"unlocked"},
      "faults":{"replay":{"level":"messages","values":[true]},"jam":[true]}}}' | tr -d '\n'
      echo; echo '{"settled":true}'

      """#, mode: 0o755)
    let family = try LockBench(LabSettings()).family(of: spec())
    expect(family.machine, "door")
    expect(family.name(of: .lock), "shut")
    expect(family.request(named: "kick"), .forge)
    expect(family.condition(named: "near"), .heard)
    expect(family.hostileFaults, ["replay"])
    let sesame = spec("lock: sesame5\naddress: c7:e6:da:90:f5:f9\n")
    expect(try bench.family(of: sesame).machine, "sesame")
    expect(try bench.family(of: DeviceSpec(.emulator, "sesame5")).machine, "sesame")
  }

  private func problem(_ body: () throws(DeviceProblem) -> Void) -> String? {
    do throws(DeviceProblem) {
      try body()
      return nil
    } catch {
      return error.message
    }
  }

  private func description(
    _ stimuli: [(name: String, request: LockFamily.Request?)], allowed: [String] = []
  ) throws -> DeviceDescription {
    let all: [(name: String, request: LockFamily.Request?)] = [
      ("hear", .listen), ("call", .connect), ("shut", .lock), ("open", .unlock), ("hang up", .leave),
    ]
    let family = try LockFamily(
      machine: "keypad", stimuli: all + stimuli,
      statuses: [("gone", .away), ("near", .heard), ("closed", .locked), ("opened", .unlocked)])
    return .realLock(
      nil, machine: "keypad.yaml", Abilities(stimuli: nil, settings: ["weather"]), readings: ["voltage"],
      isRegistered: true, isConfigured: nil, under: InterlockSettings(of: family, allowed: allowed))
  }

  @Test("what is known of a lock before it is used is what its family can be asked for")
  func abilities() throws {
    let few = try description([])
    expect(few.machines, ["keypad.yaml"])
    expect(few.readings, ["voltage"])
    expect(few.abilities.settings, ["bolt"])
    expect(few.given, [])
    expect(few.withheld.map(\.stimulus), [])
    expect(few.usual.map(\.setting), [Argument("bolt", .text("locked"))])
    expect(few.reason(Fault("forge")), nil)

    let more = try description([("log", .readHistory), ("wipe", .reset)], allowed: ["wipe"])
    expect(more.abilities.settings, ["registered", "bolt", "history"])
    expect(more.given, [Argument("registered", .flag(true))])
    expect(
      more.withheld.map(\.reason), ["a real lock does not get it, since nothing would give it an owner again"]
    )
    expect(more.usual.map(\.stimulus), [nil, "log"])

    let owned = try description([("wipe", .reset), ("adopt", .register)], allowed: ["wipe"])
    expect(owned.withheld.map(\.stimulus), ["wipe", "adopt"])
    expect(
      owned.withheld.map(\.reason),
      [
        "a real lock gets it only with --allow adopt too, so that it is not left without an owner",
        "a real lock gets it only with --allow adopt",
      ])
    expect(try description([("wipe", .reset), ("adopt", .register)], allowed: ["wipe", "adopt"]).given, [])
  }
}
