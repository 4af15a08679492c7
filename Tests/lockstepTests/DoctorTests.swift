import Transports
@testable import Bench
import Basics
import Documents
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("A bench's fitness")
struct DoctorTests {
  private let folder: Command.Folder

  init() throws { folder = try Command.Folder() }

  private func diagnose() -> Diagnosis {
    Diagnosis(BenchProbe(root: folder.path), reports: folder.path + "/Reports")
  }

  /// A dongle as the kernel describes one.
  private func plugIn(node mode: Int = 0o666, driver: String? = "btusb") throws {
    let device = "sys/bus/usb/devices/1-2"
    for (name, text) in [
      ("bDeviceClass", "e0"), ("bDeviceSubClass", "01"), ("bDeviceProtocol", "01"), ("idVendor", "0a12"),
      ("idProduct", "0001"), ("busnum", "1"), ("devnum", "7"), ("product", "CSR8510"),
    ] { try folder.write("\(device)/\(name)", text + "\n") }
    try folder.write("sys/bus/usb/devices/1-2:1.0/bInterfaceClass", "e0\n")
    if let driver {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path + "/sys/bus/usb/devices/1-2:1.0/driver",
        withDestinationPath: "../../../bus/usb/drivers/\(driver)")
    }
    // Something else, which is no business of ours.
    try folder.write("sys/bus/usb/devices/1-3/bDeviceClass", "08\n")
    let node = try folder.write("dev/bus/usb/001/007", "")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: node)
  }

  private func capabilities(_ digits: String) throws {
    try folder.write("proc/self/status", "Name:\tlockstep\nCapEff:\t\(digits)\n")
  }

  @Test("a bench that has nothing is not fit")
  func emptyBench() throws {
    let folder = try Command.Folder()
    try folder.write("bench.yaml", "bench: b\nlocks: []\n")
    let result = try Command.line("doctor --bench bench.yaml", in: folder.path)
    expect(result.status, 3)
    #expect(result.output.contains("bench.yaml has neither a lock nor a dongle"), "\(result.output)")
    #expect(result.output.contains("this bench is not fit"), "\(result.output)")
  }

  @Test("a dongle that may be used makes a bench fit")
  func fit() throws {
    try plugIn()
    let diagnosis = diagnose()
    expect(
      diagnosis.findings.first,
      Symptom(.good, "usb", "usb:1-2, 0a12:0001 CSR8510; the kernel uses it now and releases it when needed"))
    #expect(diagnosis.isFit)
  }

  @Test("one that may not is told with the rule to paste", .enabled(if: getuid() != 0))
  func forbidden() throws {
    try plugIn(node: 0o000)
    let diagnosis = diagnose()
    #expect(!diagnosis.isFit)
    #expect(diagnosis.findings[0].cure?.contains("ATTR{idVendor}==\"0a12\"") ?? false)
  }

  @Test("the rule names the dongle")
  func rule() {
    let dongle = BenchProbe(root: folder.path).dongles.first
    expect(dongle, nil)
    try? plugIn()
    let found = BenchProbe(root: folder.path).dongles
    expect(
      found.map { udevRule(vendor: $0.vendor, product: $0.product) },
      [
        #"SUBSYSTEM=="usb", ATTR{idVendor}=="0a12", ATTR{idProduct}=="0001", MODE="0660", GROUP="plugdev", TAG+="uaccess""#
      ])
  }

  @Test("who holds a dongle is named")
  func held() throws {
    try plugIn(driver: "usbfs")
    try folder.write("proc/4711/comm", "bumble\n")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/proc/4711/fd", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/proc/4711/fd/5", withDestinationPath: "/dev/bus/usb/001/007")
    let diagnosis = diagnose()
    expect(
      diagnosis.findings.first,
      Symptom(.bad, "usb", "usb:1-2, 0a12:0001 CSR8510: in use by bumble (process 4711)", cure: "end it"))
    #expect(!diagnosis.isFit)
  }

  @Test("an adapter needs a capability and must not be switched off")
  func adapters() throws {
    try folder.write("sys/class/bluetooth/hci0/address", "00:1a:7d:da:71:13\n")
    try folder.write("sys/class/bluetooth/hci0/rfkill3/soft", "1\n")
    try capabilities("0000000000000000")
    let bad = diagnose()
    expect(
      bad.findings.prefix(2).map(\.text),
      [
        "hci-socket:0: switched off by rfkill", "hci-socket:0: needs the capability CAP_NET_ADMIN",
      ])
    expect(bad.findings[0].cure, "sudo rfkill unblock bluetooth")
    #expect(!bad.isFit)
    try folder.write("sys/class/bluetooth/hci0/rfkill3/soft", "0\n")
    try capabilities("0000000000001000")
    #expect(diagnose().isFit)
  }

  @Test("serial lines with hardware behind them are named, and make no bench fit")
  func serial() throws {
    for (tty, driver) in [("ttyACM0", "cdc_acm"), ("ttyS0", "serial8250")] {
      try folder.write("sys/class/tty/\(tty)/device/uevent", "")
      try FileManager.default.createSymbolicLink(
        atPath: folder.path + "/sys/class/tty/\(tty)/device/driver",
        withDestinationPath: "../../../bus/usb/drivers/\(driver)")
    }
    try folder.write("sys/class/tty/tty0/uevent", "")
    try folder.write("dev/ttyACM0", "")
    try folder.write("dev/serial/by-id/README", "")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/dev/serial/by-id/usb-ZEPHYR_HCI_UART-if00",
      withDestinationPath: "../../ttyACM0")
    let diagnosis = diagnose()
    expect(
      diagnosis.findings.filter { $0.subject == "serial" },
      [
        Symptom(
          .note, "serial",
          "serial:/dev/ttyACM0,SPEED, usb-ZEPHYR_HCI_UART-if00, in case a controller with H4 is behind it"
        )
      ])
    #expect(!diagnosis.isFit)
  }

  @Test("the command says it in lines and in JSON, with the exit status of its verdict")
  func command() throws {
    let result = try Command.call("doctor", "--format", "json", in: folder.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    let fit = try JSON(parsing: lines.last ?? "")["fit"]
    expect(result.status, fit == true ? 0 : 3)
    for line in lines.dropLast() where try JSON(parsing: line)["state"] == "bad" {
      #expect(try JSON(parsing: line)["cure"] != nil, "\(line)")
    }
    let human = try Command.call("doctor", in: folder.path)
    #expect(
      human.output.contains(fit == true ? "this bench is fit" : "this bench is not fit"), "\(human.output)")
    // It makes nothing.
    expect(folder.names("."), [])
  }
}
