import TestSupport
import Testing

@testable import Harness

@Suite("Device specifications")
struct DeviceSpecTests {
  private static func spec(
    _ kind: DeviceSpec.Kind, _ name: String, _ settings: KeyValuePairs<String, String> = [:]
  ) -> DeviceSpec {
    DeviceSpec(kind, name, settings.map { .init($0.key, $0.value) })
  }

  /// A text, what it specifies, and its canonical form where that is another text.
  // swift-format-ignore
  static let texts: [(text: String, spec: DeviceSpec, canonical: String?)] = [
    ("oak", spec(.emulator, "oak"), "emulator:oak"),
    ("emulator:oak", spec(.emulator, "oak"), nil),
    ("oak?", spec(.emulator, "oak"), "emulator:oak"),
    // A setting without a value is on, and an empty value is a value.
    ("emulator:oak?jam", spec(.emulator, "oak", ["jam": "true"]), "emulator:oak?jam=true"),
    ("emulator:oak?jam=", spec(.emulator, "oak", ["jam": ""]), nil),
    ("emulator:oak?key=a=b&paint=red?", spec(.emulator, "oak", ["key": "a=b", "paint": "red?"]), nil),
    ("oak?&paint=red&", spec(.emulator, "oak", ["paint": "red"]), "emulator:oak?paint=red"),
    ("emulator:oak?defect=loud&defect=silent", spec(.emulator, "oak", ["defect": "loud", "defect": "silent"]), nil),
    // Everything after the kind is the command or the file.
    ("exec:python3 door.py?paint=red&x", spec(.exec, "python3 door.py?paint=red&x"), nil),
    ("exec:a:b", spec(.exec, "a:b"), nil),
    ("lock:keys/front.yaml?x=1", spec(.lock, "keys/front.yaml?x=1"), nil),
    ("driver:a?peripheral=b c", spec(.driver, "a", ["peripheral": "b c"]), nil),
    ("driver:a?secrets=s.yaml&peripheral=b?x=1&loss=0.1", spec(.driver, "a", ["secrets": "s.yaml", "peripheral": "b?x=1", "loss": "0.1"]), nil),
    ("driver:a&peripheral=b?loss=1&peripheral=c", spec(.driver, "a&peripheral=b", ["loss": "1", "peripheral": "c"]), nil),
  ]

  @Test("a text and its canonical form specify the same device", arguments: texts)
  func reading(text: String, spec: DeviceSpec, canonical: String?) throws {
    expect(try DeviceSpec(text: text), spec)
    expect(spec.description, canonical ?? text)
    expect(try DeviceSpec(text: spec.description), spec)
  }

  // swift-format-ignore
  static let mistakes: [(text: String, part: DeviceProblem.Part, message: String)] = [
    ("", .name, "no device is named"), ("emulator:", .name, "no device is named"),
    ("?paint=red", .name, "no device is named"), ("lock:", .name, "nothing follows `lock:`"),
    ("driver:", .name, "nothing follows `driver:`"),
    ("driver:?peripheral=b", .name, "nothing follows `driver:`"),
    ("emulater:oak", .name, "unknown kind of device `emulater`: did you mean `emulator`?"),
    ("x:oak", .name, "unknown kind of device `x`: expected one of emulator, exec, driver, lock"),
    ("oak?=red", .name, "a setting without a name: `=red`"),
    ("oak?jam&jam=false", .setting("jam"), "`jam` is given twice"),
    ("driver:a?peripheral=b&peripheral=c", .setting("peripheral"), "`peripheral` is given twice"),
  ]

  @Test("a mistake is reported with the part that is wrong", arguments: mistakes)
  func mistake(text: String, part: DeviceProblem.Part, message: String) {
    do throws(DeviceProblem) {
      Issue.record("no problem: \(try DeviceSpec(text: text))")
    } catch {
      expect(error.part, part)
      expect(error.description, message)
    }
  }

  @Test(
    "a driver needs a lock to drive", arguments: ["driver:a", "driver:a?loss=0.1", "driver:a?peripheral="])
  func lockless(text: String) {
    do throws(DeviceProblem) {
      Issue.record("no problem: \(try DeviceSpec(text: text))")
    } catch {
      expect(error.part, .setting("peripheral"))
      expect(error.message, "a driver needs a lock, and none is named")
    }
  }

  @Test("the settings of a driver's lock and its secrets identify the lock, and do not belong to a case")
  func ownSettings() {
    let settings: KeyValuePairs = ["peripheral": "b", "loss": "0.1", "secrets": "s.yaml"]
    expect(Self.spec(.driver, "a", settings).ownSettings, [.init("loss", "0.1")])
    expect(Self.spec(.emulator, "a", settings).ownSettings.map(\.name), ["peripheral", "loss", "secrets"])
  }

  // swift-format-ignore
  static let places: [(spec: DeviceSpec, folder: String, placed: DeviceSpec)] = [
    (spec(.exec, "./door"), ".", spec(.exec, "./door")),
    (spec(.exec, "./door"), "labs/a", spec(.exec, "cd ./labs/a || exit; ./door")),
    // `cd -` and the folders of CDPATH are others.
    (spec(.exec, "./door"), "-", spec(.exec, "cd ./- || exit; ./door")),
    (spec(.exec, "./door"), "../a b", spec(.exec, "cd '../a b' || exit; ./door")),
    (spec(.exec, "./door"), "/labs", spec(.exec, "cd /labs || exit; ./door")),
    (spec(.emulator, "oak", ["paint": "red"]), "labs", spec(.emulator, "oak", ["paint": "red"])),
    (spec(.lock, "a.yaml"), "labs", spec(.lock, "a.yaml")),
    (spec(.driver, "a", ["peripheral": "b", "loss": "0", "secrets": "s.yaml"]), "labs",
      spec(.driver, "cd ./labs || exit; a", ["peripheral": "cd ./labs || exit; b", "loss": "0", "secrets": "labs/s.yaml"])),
  ]

  @Test("the commands and files of an inventory are found from its folder", arguments: places)
  func placed(spec: DeviceSpec, folder: String, placed: DeviceSpec) {
    expect(spec.placed(in: folder), placed)
  }

  @Test("a program has another hash once a file that its command names is another")
  func programHash() throws {
    let folder = TestFolder()
    let door = folder.write("door.py", "open")
    folder.write("b c.py", "close")
    func hash(_ spec: DeviceSpec) -> String? { spec.programHash }
    let first = try #require(hash(Self.spec(.exec, "python3 \(door)")))
    expect(hash(Self.spec(.exec, "python3 -u \(door) --port=3")), first)
    expect(hash(Self.spec(.exec, "python3 \(folder.path)/none.py")), nil)
    expect(hash(Self.spec(.exec, "")), nil)
    // What is no program has no hash, whatever its name.
    expect(hash(Self.spec(.lock, door)), nil)
    expect(hash(Self.spec(.emulator, door)), nil)
    #expect(hash(Self.spec(.exec, "python3 '\(folder.path)/b c.py'")) != nil)
    #expect(hash(Self.spec(.driver, "x", ["peripheral": "python3 \(door)"])) == first)
    // The path counts as it is written from the folder in which the command runs.
    let placed = Self.spec(.exec, "python3 door.py").placed(in: folder.path)
    let before = try #require(hash(placed))
    #expect(before != first)
    folder.write("door.py", "shut")
    #expect(try #require(hash(placed)) != before)
    #expect(try #require(hash(Self.spec(.exec, "python3 \(door)"))) != first)
  }
}
