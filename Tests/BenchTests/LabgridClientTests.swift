import Conformance
import Foundation
@testable import Bench
import TestSupport
import Testing

@Suite("The Python that talks to a lab")
struct LabgridClientTests {
  @Test(
    "the one that a script is run by",
    arguments: [
      ("#!/home/ada/venv/bin/python3\nimport re\n", "/home/ada/venv/bin/python3"),
      ("#! /usr/bin/python3 -s\n", "/usr/bin/python3"), ("#!/usr/bin/env python3\n", "python3"),
      ("#!/bin/sh\n'''exec' /a/long/path/python3.11 \"$0\" \"$@\"\n' '''\n", "/a/long/path/python3.11"),
      ("#!/bin/sh\n'''exec' \"/a path/python\" \"$0\" \"$@\"\n' '''\n", "/a path/python"),
      ("#!/bin/sh\n'''exec' '/a path/pypy3' \"$0\" \"$@\"\n' '''\n", "/a path/pypy3"),
      ("#!/bin/sh\nexec labgrid \"$@\"\n", nil), ("#!/bin/bash", nil), ("#!", nil), ("\u{7F}ELF", nil),
    ])
  func interpreter(script: String, python: String?) { expect(LabgridClient.interpreter(of: script), python) }

  @Test(
    "what does not answer as it should, and is asked again afresh",
    arguments: [
      ("exit 3", "the Python that talks to the lab ended: exit status 3"),
      ("echo oh no >&2; exit 1", "the Python that talks to the lab ended: oh no"),
      ("kill -9 $$", "the Python that talks to the lab ended: signal 9"),
      ("read a; echo what", "not one of those that are known, 25.0 to 26.0: it is no JSON: what"),
      ("read a; echo '{}'", "not one of those that are known, 25.0 to 26.0: it says {}"),
      (#"read a; echo '{"refusal":"newer","words":"no"}'"#, "25.0 to 26.0: it says"),
      (#"read a; echo '{"refusal":"held","words":"no"}'"#, "a place: no"),
      (#"read a; echo '{"refusal":"import","words":"no"}'"#, "has no labgrid: no; it comes with"),
    ])
  func trouble(script: String, words: String) throws {
    let client = client(script)
    do throws(LabgridFault) {
      _ = try client.fetchState()
      Issue.record("it answered")
    } catch {
      let fault = client.trouble(error, "a place")
      #expect(fault.detail.contains(words), "\(fault)")
    }
  }

  @Test("one that ended is started again, and nobody waits for one once it is of no use")
  func again() throws {
    let once = client(#"read a; echo '{"places":[],"reservations":[]}'"#)
    expect(try once.fetchState().places, [])
    // It may still be there when it is asked, but not twice.
    let again = try? once.fetchState()
    expect(try (again ?? once.fetchState()).places, [])
    let silent = client("read a; sleep 100")
    #expect(throws: LabgridFault.stopped) { try silent.fetchState { true } }
  }

  private let folder = TestFolder()

  /// A client whose Python is a script of the shell.
  private func client(_ script: String) -> LabgridClient {
    let path = folder.write("python", "#!/bin/sh\n\(script)\n", mode: 0o755)
    return LabgridClient(LabAddress("labgrid://lab")!, owner: .new(), python: path)
  }
}
