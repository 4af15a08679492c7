import Basics
import Foundation
import Secrets
import TestSupport
import Testing

@testable import System

@Suite("What a program is given")
struct SurroundingsTests {
  /// The environment of a program, one variable each.
  private func environment(without withheld: [String] = [], adding added: [String] = []) -> [String] {
    unsafe withEnvironment(without: withheld, adding: added) { list in
      var variables: [String] = []
      var next = unsafe list
      while let text = unsafe next.pointee {
        variables.append(unsafe String(cString: text))
        unsafe next += 1
      }
      return variables
    }
  }

  @Test("a variable that is added takes the place of ours, and all are in order")
  func variables() {
    let own = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }.sorted()
    let others = own.filter { !$0.hasPrefix("PATH=") }
    #expect(own.count == others.count + 1)
    expect(environment(), own)
    expect(environment(without: ["PATH", "LOCKSTEP_NONE"]), others)
    let added = ["PATH=/a:/b=c", "LOCKSTEP_ADDED="]
    expect(environment(adding: added), (others + added).sorted())
    // What is withheld and added is added.
    expect(environment(without: ["PATH"], adding: ["PATH=/x"]), (others + ["PATH=/x"]).sorted())
    // A name is not the beginning of another.
    expect(environment(without: ["PAT"]), own)
  }

  @Test("a file is one that can be read, through links, and nothing else is")
  func files() throws {
    let folder = TestFolder()
    folder.write("file", "")
    try makeFolder(folder.path + "/folder")
    for (name, target) in [("link", "file"), ("gone", "none"), ("other", "folder")] {
      try #require(unsafe symlink(target, "\(folder.path)/\(name)") == 0)
    }
    try #require(unsafe mkfifo(folder.path + "/pipe", 0o600) == 0)
    let names = ["file", "link", "folder", "other", "gone", "pipe", "none"]
    expect(names.filter { Host.isFile("\(folder.path)/\($0)") }, ["file", "link"])
  }

  @Test("the clocks of the machine know its start, and go on")
  func clocks() {
    let (before, after) = (BenchClock.now, BenchClock.now)
    expect(before.boot, after.boot)
    let known = smallFile("/proc/sys/kernel/random/boot_id")
    expect(known.map { String($0.prefix(8)) }, before.boot)
    expect(before.uptime <= after.uptime, true)
    // The machine has run for at least as long as this process.
    expect(before.uptime >= Waiting.now, true)
  }

  @Test("a message is framed after its secrets were taken out, and read as it comes")
  func messages() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      var ends: [Int32] = [-1, -1]
      try #require(unsafe pipe(&ends) == 0)
      try #require(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO)
      let output = unsafe open(folder.path + "/output", O_WRONLY | O_CREAT, 0o600)
      let before = dup(STDOUT_FILENO)
      try #require(dup2(output, STDOUT_FILENO) == STDOUT_FILENO)
      var stream = MessageStream()
      try Descriptors.write(Array("one".utf8), to: ends[1])
      let first = Array(stream.receive())
      close(ends[1])
      close(ends[0])
      let end = Array(stream.receive())
      Secrecy.keep(Secret(text: "wrench-owl-7f3a99"))
      try stream.send("key wrench-owl-7f3a99") { "\($0.utf8.count) \($0)" }
      dup2(before, STDOUT_FILENO)
      #expect(first == Array("one".utf8))
      #expect(end == [])
      let parts = folder.read("output").split(separator: " ", maxSplits: 1)
      #expect(Int(parts[0]) == parts[1].utf8.count)
      #expect(parts[1].hasPrefix("key ") && !parts[1].contains("owl"))
    }
  }
}
