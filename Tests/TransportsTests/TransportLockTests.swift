import CallFaults
import System
import Bluetooth
import Glibc
import Basics
import TestSupport
import Testing

@testable import Transports

@Suite("One program for one controller")
struct TransportLockTests {
  @Test("a second opening is busy and names the first, until that is closed")
  func exclusive() throws {
    let files = try TemporaryFolder()
    let settings = TransportRig.settings(files)
    let (master, path) = try openTerminal()
    defer { close(master) }
    let spec = TransportSpec.serial(path: path, speed: 9600, hasFlowControl: false)
    let first = try Transport(opening: spec, settings: settings)
    let fault = #expect(throws: TransportFault.self) { try Transport(opening: spec, settings: settings) }
    expect(fault?.symptom, .busy)
    let endpoint = "serial" + path
    expect(fault?.detail.hasPrefix("\(endpoint) is in use by this process since 20"), true)
    let holders = LockHolder.all(in: files.path + "/locks")
    expect(holders.map(\.process), [getpid()])
    expect(holders.map(\.endpoint), [endpoint.split(separator: "/").joined(separator: "-")])
    first.close()
    expect(LockHolder.all(in: files.path + "/locks"), [])
    let second = try Transport(opening: spec, settings: settings)
    second.close()
  }

  @Test("a controller that cannot be locked at all is in nobody's use")
  func unlockable() async throws {
    let files = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [folder = files.path + "/locks" as String] in
      let call = try #require(
        try FaultGate.calls { _ = try EndpointLock("hci7", in: folder) }.first { $0.call.hasPrefix("lock@") }?
          .call)
      let fault = try #require(CallFault("\(call)#1=ENOLCK"))
      let words =
        "\(folder)/hci7.lock cannot be locked, to keep other programs from hci7 (\(errorText(ENOLCK)))"
      #expect(throws: TransportFault(.unavailable, words)) {
        try FaultGate.with(fault) { try EndpointLock("hci7", in: folder) }
      }
    }
  }

  @Test("a serial line that cannot be locked itself is in nobody's use")
  func unlockableLine() async throws {
    await #expect(processExitsWith: .success) {
      let (master, path) = try openTerminal()
      defer { close(master) }
      func open() throws(TransportFault) {
        let ends = try SerialPort.open(path, speed: 9600, hasFlowControl: false, name: "line")
        close(ends.peer)
      }
      let calls = try FaultGate.calls { try open() }
      let call = try #require(calls.first { $0.call.hasPrefix("lock@") }?.call)
      for (name, fault) in [
        ("EWOULDBLOCK", TransportFault(.busy, "line is locked by another program")),
        (
          "ENOLCK",
          TransportFault(.unavailable, "line cannot be kept from other programs (\(errorText(ENOLCK)))")
        ),
      ] {
        let gate = try #require(CallFault("\(call)#1=\(name)"))
        #expect(throws: fault) { try FaultGate.with(gate) { try open() } }
      }
    }
  }

  @Test("another program's lock holds too, and goes when it is killed")
  func otherProgram() throws {
    let files = try TemporaryFolder()
    let folder = files.path + "/locks"
    _ = try EndpointLock("hci7", in: folder)
    let holder = try ChildProcess(
      command:
        """
        exec python3 -c 'import fcntl, os, time
        file = open("\(folder)/hci7.lock", "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        print(os.getpid(), file=file, flush=True)
        print("locked", flush=True)
        time.sleep(600)'
        """)
    expect(holder.nextLine(until: MonotonicClock.now + timeLimit), .line(Array("locked".utf8)))
    let fault = #expect(throws: TransportFault.self) {
      try Transport(opening: .hciSocket(7), settings: TransportRig.settings(files))
    }
    let process = try #require(LockHolder.all(in: folder).first?.process)
    expect(fault, TransportFault(.busy, "hci7 is in use by process \(process)"))
    holder.stop(grace: .zero)
    expect(LockHolder.all(in: folder), [])
    _ = try EndpointLock("hci7", in: folder)
  }

  @Test("a serial line has one lock by whatever name, and a stranger's lock on the line itself holds too")
  func lines() throws {
    let files = try TemporaryFolder()
    let settings = TransportRig.settings(files)
    let (master, path) = try openTerminal()
    defer { close(master) }
    let alias = files.path + "/line"
    _ = unsafe symlink(path, alias)
    let spec = TransportSpec.serial(path: alias, speed: 9600, hasFlowControl: false)
    let lock = try EndpointLock("serial" + path, in: files.path + "/locks")
    let fault = #expect(throws: TransportFault.self) { try Transport(opening: spec, settings: settings) }
    expect(fault?.detail.hasPrefix("\(lock.endpoint) is in use by this process since 20"), true)
    var other = settings
    other.lockFolder = files.path + "/others"
    let stranger = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(stranger) }
    expect(flock(stranger, LOCK_EX | LOCK_NB), 0)
    expect(
      #expect(throws: TransportFault.self) { try Transport(opening: spec, settings: other) },
      TransportFault(.busy, "\(spec) is locked by another program"))
  }

  @Test("somebody who only looks does not make it busy")
  func looking() throws {
    let files = try TemporaryFolder()
    let lock = try EndpointLock("hci0", in: files.path)
    let looker = unsafe open(files.path + "/hci1.lock", O_RDONLY | O_CREAT, 0o600)
    defer { close(looker) }
    _ = flock(looker, LOCK_SH)
    expect(#expect(throws: TransportFault.self) { try EndpointLock("hci1", in: files.path) }?.symptom, .busy)
    flock(looker, LOCK_UN)
    let other = try EndpointLock("hci1", in: files.path)
    expect([lock.endpoint, other.endpoint], ["hci0", "hci1"])
  }

  @Test("the folder is this user's alone, and what is no folder is not used")
  func folder() throws {
    let files = try TemporaryFolder()
    let folder = files.path + "/locks"
    _ = unsafe mkdir(folder, 0o755)
    _ = unsafe chmod(folder, 0o777)
    _ = try EndpointLock("hci0", in: folder)
    var status = stat()
    _ = unsafe lstat(folder, &status)
    expect(status.st_mode & 0o777, 0o700)
    _ = unsafe symlink(folder, files.path + "/link")
    for path in [files.path + "/link", files.path + "/locks/hci0.lock", "/nonexistent/locks"] {
      let fault = #expect(throws: TransportFault.self) { try EndpointLock("hci0", in: path) }
      expect(fault?.symptom, .unavailable)
    }
  }

  @Test("it is kept from one opening to the next")
  func reopened() throws {
    let files = try TemporaryFolder()
    let (master, path) = try openTerminal()
    defer { close(master) }
    let transport = try Transport(
      opening: .serial(path: path, speed: 9600, hasFlowControl: false), settings: TransportRig.settings(files)
    )
    let holders = LockHolder.all(in: files.path + "/locks")
    try transport.reopen()
    expect(LockHolder.all(in: files.path + "/locks"), holders)
    expect(holders.count, 1)
  }
}
