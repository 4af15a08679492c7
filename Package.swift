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
    library("Sesame", ["Basics", "Crypto", "Bluetooth", "CCrypto"]),
    // Families
    library("SesameDevice", ["Basics", "Conformance", "Bluetooth", "Sesame"]),
    // Worlds
    library("Controllers", ["Basics", "Crypto", "Bluetooth"]),
    library(
      "Emulator",
      [
        "Basics", "Crypto", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame",
        "SesameDevice",
        "Controllers",
      ]),
    library("System", ["Basics", "Secrets", "CShims"]),
    library("Transports", ["Basics", "Secrets", "System", "Bluetooth", "CLibUSB", "CShims"]),
    // The record
    library("Journal", ["Basics", "System"]),
    // Harness
    library(
      "Harness",
      ["Basics", "Secrets", "System", "Journal", "Documents", "Automata", "Models", "Conformance"]),
    library(
      "Bench",
      [
        "Basics", "Secrets", "System", "Journal", "Documents", "Conformance", "Bluetooth", "Sesame",
        "SesameDevice",
        "Transports", "CShims",
      ]),
    library(
      "Devices",
      [
        "Basics", "Secrets", "System", "Journal", "Documents", "Automata", "Models", "Conformance",
        "Bluetooth", "Sesame",
        "SesameDevice", "Controllers", "Emulator", "Transports", "Bench", "Harness",
      ]),
    // Above
    library("Reporting", ["Basics", "Journal", "Secrets", "Drawing", "System", "CSQLite", "CPostgres"]),
    library(
      "Nightly",
      [
        "Basics", "Secrets", "System", "Documents", "Conformance", "Journal", "Transports", "Bench",
        "Devices", "Harness",
        "Reporting",
      ]),
    library(
      "Benchmarks",
      [
        "Basics", "Secrets", "System", "Documents", "Automata", "Models", "Conformance", "Bluetooth",
        "Sesame",
        "SesameDevice", "Controllers", "Emulator", "Transports", "Journal", "Bench", "Devices", "Harness",
        "Reporting",
        "Nightly",
      ]),
    // Edge
    .executableTarget(
      name: "lockstep",
      dependencies: [
        "Basics", "Secrets", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame",
        "SesameDevice",
        "Controllers", "Emulator", "System", "Transports", "Journal", "Bench", "Devices", "Harness",
        "Reporting",
        "Nightly", "Benchmarks",
      ],
      swiftSettings: settings),
    // Fuzzing: no part of the product
    .target(
      name: "DecoderChecks",
      dependencies: [
        "Basics", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame", "SesameDevice",
        "Controllers",
        "Emulator", "Harness",
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
    tests("Sesame", ["Sesame", "Bluetooth", "Basics"], resources: [.copy("Vectors")]),
    tests("SesameDevice", ["SesameDevice", "Sesame", "Bluetooth", "Conformance", "Basics"]),
    tests(
      "Emulator",
      [
        "Emulator", "Controllers", "Harness", "SesameDevice", "Sesame", "Bluetooth", "Conformance", "Models",
        "Automata",
        "Basics",
      ],
      resources: [.copy("Golden")]),
    tests("System", ["System", "Basics"]),
    tests("Transports", ["Transports", "System", "Basics", "Bluetooth", "CLibUSB"]),
    tests(
      "Bench",
      [
        "Bench", "Emulator", "Controllers", "Transports", "System", "SesameDevice", "Sesame", "Bluetooth",
        "Conformance", "Documents", "Basics",
      ]),
    tests(
      "Devices",
      [
        "Devices", "Bench", "Emulator", "SesameDevice", "Sesame", "Bluetooth", "Conformance", "System",
        "Basics",
      ]),
    tests(
      "Harness",
      ["Harness", "Journal", "Bench", "Emulator", "Models", "Automata", "Conformance", "Documents", "Basics"]),
    tests("Journal", ["Journal", "Reporting", "System", "Basics"]),
    tests("Reporting", ["Reporting", "Journal", "System", "Basics"]),
    tests("Nightly", ["Nightly", "Bench", "Conformance", "Documents", "Basics"]),
    tests("Benchmarks", ["Benchmarks", "Nightly", "Bench", "Basics"]),
    tests(
      "lockstep",
      [
        "lockstep", "Bench", "Devices", "Nightly", "Journal", "Harness", "Conformance", "System",
        "Transports",
        "Documents", "Basics",
      ]),
    tests("Peer", ["lockstep"]),
    tests(
      "Scenario",
      [
        "lockstep", "Harness", "Journal", "Bench", "Emulator", "Models", "Automata", "Conformance",
        "Documents",
        "Basics",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
