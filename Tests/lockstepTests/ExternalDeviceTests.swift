import Foundation
import TestSupport
import Testing

/// The device that the README shows, word for word as a reader would copy it.
@Suite("The README's device")
struct ExternalDeviceTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The one Python listing of the README.
  private static func listing() throws -> String {
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let start = try #require(readme.range(of: "```python\n")).upperBound
    let end = try #require(readme.range(of: "```", range: start..<readme.endIndex)).lowerBound
    return String(readme[start..<end])
  }

  /// Runs the command on the door's scenarios with a program as the device.
  private func run(_ program: String) throws -> (status: Int32, output: String) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lockstep-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try program.write(to: folder.appending(path: "door.py"), atomically: true, encoding: .utf8)
    let process = Process()
    // The test bundle and the command are built into one folder.
    process.executableURL = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "lockstep")
    if !FileManager.default.isExecutableFile(atPath: process.executableURL?.path ?? "") {
      process.executableURL = Self.root.appending(path: ".build/debug/lockstep")
    }
    process.currentDirectoryURL = folder
    process.arguments = [
      "run", Self.root.appending(path: "Scenarios/door").path, "--device", "exec:python3 door.py", "--out",
      folder.appending(path: "Reports").path, "--seed", "1", "--color", "never",
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  @Test("it has ten lines and agrees with the door's machine in every scenario")
  func agrees() throws {
    let program = try Self.listing()
    expect(program.split(separator: "\n").count, 10)
    let (status, output) = try run(program)
    expect(status, 0)
    #expect(output.contains("3 agree"), "\(output)")
  }

  @Test("a bug in it is found: the canary of this suite")
  func canary() throws {
    let program = try Self.listing().replacing("(\"Close\", \"Opened\")", with: "(\"Close\", \"Open\")")
    let (status, output) = try run(program)
    expect(status, 1)
    #expect(output.contains("the device showed Opened, which the model does not allow"), "\(output)")
  }
}
