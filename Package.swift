// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target is built with: memory safety is checked, warnings are errors, and an import
/// is seen by others only where its file says so.
let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(
    name: name + "Tests", dependencies: dependencies + ["TestSupport"], resources: resources,
    swiftSettings: settings)
}

let package = Package(
  name: "lockstep",
  products: [.executable(name: "lockstep", targets: ["lockstep"])],
  targets: [
    // Ground
    library("Basics"),
    library("Crypto", ["CCrypto"]),
    library("Drawing"),
    library("Secrets"),
    library("Documents", ["Basics", "CYAML"]),
    // Theory
    library("Automata", ["Basics", "Documents", "Drawing"]),
    library("Models", ["Basics", "Automata"]),
    library("Conformance", ["Basics", "Automata"]),
    // Protocols
    library("Bluetooth", ["Basics"]),
    library("Sesame", ["Basics", "Crypto", "Conformance", "Bluetooth", "CCrypto"]),
    // The lab
    library("Lab", ["Basics", "Documents", "Conformance", "Sesame"]),
    // Worlds
    library("Emulator", ["Basics", "Crypto", "Documents", "Automata", "Conformance", "Bluetooth", "Sesame"]),
    library("System", ["Basics", "Secrets", "CShims"]),
    library(
      "Transports",
      [
        "Basics", "Secrets", "System", "Documents", "Conformance", "Bluetooth", "Sesame", "Lab", "CLibUSB",
        "CShims",
      ]),
    // The record
    library("Journal", ["Basics", "System"]),
    // Harness
    library(
      "Harness",
      ["Basics", "Secrets", "System", "Journal", "Documents", "Automata", "Models", "Conformance", "Lab"]),
    library("Reporting", ["Basics", "Journal", "Secrets", "Drawing", "System", "CSQLite", "CPostgres"]),
    // Edge
    .executableTarget(
      name: "lockstep",
      dependencies: [
        "Basics", "Secrets", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame",
        "Lab", "Emulator", "System", "Transports", "Journal", "Harness", "Reporting",
      ],
      swiftSettings: settings),
    // Fuzzing: no part of the product
    .target(
      name: "DecoderChecks",
      dependencies: [
        "Basics", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame", "Emulator",
        "Harness",
      ],
      path: "Tests/DecoderChecks", swiftSettings: settings),
    .executableTarget(
      name: "FuzzDecoders", dependencies: ["DecoderChecks", "System"], swiftSettings: settings),
    // C libraries, and the C that Swift cannot import
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CLibUSB", pkgConfig: "libusb-1.0", providers: [.apt(["libusb-1.0-0-dev"])]),
    .systemLibrary(name: "CBlueZ", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Without pkgConfig, which would link it: see its header.
    .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
    .target(name: "CShims", dependencies: ["CBlueZ"]),
    // Tests
    .target(
      name: "TestSupport", dependencies: ["Conformance"], path: "Tests/TestSupport", swiftSettings: settings),
    tests("DecoderChecks", ["DecoderChecks"], resources: [.copy("Corpus")]),
    tests("Basics", ["Basics"]),
    tests("Crypto", ["Crypto", "Basics"]),
    tests("Drawing", ["Drawing"]),
    tests("Secrets", ["Secrets"]),
    tests("Documents", ["Documents", "Basics"]),
    tests("Automata", ["Automata", "Basics", "Documents"]),
    tests("Models", ["Models", "Automata", "Basics"]),
    tests("Conformance", ["Conformance", "Automata", "Models", "Basics"]),
    tests("Bluetooth", ["Bluetooth", "Basics"]),
    tests("Sesame", ["Sesame", "Bluetooth", "Conformance", "Basics"], resources: [.copy("Vectors")]),
    tests(
      "Lab", ["Lab", "Emulator", "Sesame", "Bluetooth", "Conformance", "Documents", "Basics"]),
    tests(
      "Emulator",
      ["Emulator", "Harness", "Sesame", "Bluetooth", "Conformance", "Models", "Automata", "Basics"],
      resources: [.copy("Golden")]),
    tests("System", ["System", "Basics"]),
    tests(
      "Transports",
      ["Transports", "System", "Lab", "Conformance", "Basics", "Bluetooth", "Sesame", "Documents", "CLibUSB"]),
    tests(
      "Harness",
      ["Harness", "Journal", "Lab", "Emulator", "Models", "Automata", "Conformance", "Documents", "Basics"]),
    tests("Journal", ["Journal", "Reporting", "System", "Basics"]),
    tests("Reporting", ["Reporting", "Journal", "System", "Basics"]),
    tests(
      "lockstep",
      ["lockstep", "Lab", "Journal", "Harness", "Conformance", "System", "Transports", "Documents", "Basics"]),
    tests("Peer", ["lockstep"]),
    tests(
      "Scenario",
      [
        "lockstep", "Harness", "Journal", "Lab", "Emulator", "Models", "Automata", "Conformance", "Documents",
        "Basics",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
