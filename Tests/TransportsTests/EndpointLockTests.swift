import Bluetooth
import Foundation
import Simulation
import TestSupport
import Testing

@testable import Transports

/// Another program that holds the lock of a controller, by the means of the shell.
private final class Holder {
  let process = Process()

  init(of endpoint: String, in folder: String) throws {
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      """
      mkdir -p -m 700 "$1" && exec 9>>"$1/$2.lock" && flock -n 9 || exit 1
      printf '%s\\n%s\\n' $$ 2026-11-21T00:50:17.042Z > "$1/$2.lock"
      echo held; exec sleep 20
      """, "sh", folder, endpoint,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self), "held\n")
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { if process.isRunning { kill() } }
}

@Suite("One program at a time on a controller")
struct EndpointLockTests {
  private let files: TemporaryFolder
  private var folder: String { files.path + "/locks" }

  init() throws { files = try TemporaryFolder() }

  private func fault(_ path: String, _ folder: String? = nil) -> CarrierFault? {
    var settings = CarrierRig.settings(files)
    settings.lockFolder = folder ?? settings.lockFolder
    let spec = CarrierSpec.serial(path: path, speed: 115_200, hasFlowControl: false)
    do throws(CarrierFault) {
      try Carrier(opening: spec, settings: settings).close()
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "a serial line that another program uses is busy, and the message names that; when it is killed, it is free",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/flock"), "flock is not installed"))
  func otherProgram() throws {
    let (master, path) = try openTerminal()
    defer { close(master) }
    let endpoint = "serial" + path.map { $0 == "/" ? "-" : $0 }
    let holder = try Holder(of: endpoint, in: folder)
    let program = "process \(holder.process.processIdentifier) since 2026-11-21T00:50:17.042Z"
    expect(fault(path), CarrierFault(.busy, "serial:\(path),115200 is in use by \(program)"))
    // Another way to write the same line is no way around it.
    let alias = files.path + "/line"
    try FileManager.default.createSymbolicLink(atPath: alias, withDestinationPath: path)
    expect(fault(alias), CarrierFault(.busy, "serial:\(alias),115200 is in use by \(program)"))
    holder.kill()
    expect(fault(path), nil)
  }

  @Test("a second carrier of this program is told so, until the first is closed")
  func sameProgram() throws {
    let rig = try CarrierRig(.serial) { $0.lockFolder = folder }
    guard case .serial(let path, _, _) = rig.carrier.spec else { return }
    let text = fault(path)?.detail ?? ""
    #expect(text.hasPrefix("\(rig.carrier.spec) is in use by this process since 20"), "\(text)")
    rig.carrier.close()
    expect(fault(path), nil)
  }

  @Test("a line that somebody locked who is none of ours is busy too")
  func stranger() throws {
    let (master, path) = try openTerminal()
    defer { close(master) }
    let other = try check(unsafe open(path, O_RDWR | O_NOCTTY))
    defer { close(other) }
    expect(flock(other, LOCK_EX | LOCK_NB), 0)
    expect(fault(path), CarrierFault(.busy, "serial:\(path),115200 is locked by another program"))
  }

  @Test("a lock folder that others may write to, or that is none, is not trusted")
  func mistrust() throws {
    let (master, path) = try openTerminal()
    defer { close(master) }
    let open = files.path + "/open"
    expect(unsafe mkdir(open, 0o700), 0)
    expect(unsafe chmod(open, 0o777), 0)
    #expect(fault(path, open)?.detail.contains("is open to other users; make it yours") == true)
    let link = files.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: files.path)
    #expect(fault(path, link)?.detail.contains("is no folder; remove it") == true)
    #expect(fault(path, "/nonexistent/locks")?.detail.contains("cannot be made") == true)
  }
}
