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

/// With these settings `make test` builds the libraries in which tests spend their time: optimised, with assertions.
let optimized: [SwiftSetting] =
  Context.environment["LOCKSTEP_OPTIMIZED_TESTS"] == nil
  ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// The libraries in which tests spend little time. Without optimisation they compile four times as fast.
let plainInTests: Set = [
  "Files", "Drawing", "System", "Transports", "Databases", "Bench", "LockFiles", "LanguageServer",
  "CommandLine", "Tours", "Reporting", "Benchmarks",
]

/// In the program that `make build` makes, what decides how fast it is is optimised across modules, and the rest is made small.
let isRelease = Context.environment["LOCKSTEP_RELEASE"] != nil
let fast: [SwiftSetting] =
  isRelease ? [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))] : []
let small: [SwiftSetting] = isRelease ? [.unsafeFlags(["-Osize"], .when(configuration: .release))] : []

/// The commit of which it is built and that commit's day, for `lockstep version`: `make build` says it. It stands in one small C file,
/// so that another commit compiles nothing else anew.
let build: [CSetting] =
  Context.environment["LOCKSTEP_BUILD"].map { [.define("LOCKSTEP_BUILD", to: "\"\($0)\"")] } ?? []

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], _ optimization: [SwiftSetting] = fast
) -> Target {
  .target(
    name: name, dependencies: dependencies,
    swiftSettings: settings + (plainInTests.contains(name) ? [] : optimized) + optimization)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(
    name: name + "Tests", dependencies: dependencies + ["TestSupport"], resources: resources,
    swiftSettings: settings)
}

let package = Package(
  name: "lockstep",
  products: [
    .executable(name: "lockstep", targets: ["Main"]),
    // For the tests and measurements of this package alone.
    .executable(name: "lockstep-workbench", targets: ["Workbench"]),
  ]
    // What other packages can build on: a protocol stack, a lock's protocol, machines, testing against them, and what
    // these need. Controllers is an emulated radio, Transports are ways to a real one.
    + [
      "Basics", "Bluetooth", "Controllers", "Transports", "Sesame", "Expressions", "Automata", "Conformance",
    ].map {
      .library(name: $0, targets: [$0])
    },
  targets: [
    // Ground
    library("Basics"),
    library("Crypto", ["CCrypto"]),
    library("Files", ["CFiles"]),
    library("Drawing"),
    library("Secrets"),
    library("Documents", ["Basics", "CExpat", "CYAML"]),
    // Theory
    library("Expressions", ["Basics"]),
    library("Automata", ["Basics", "Expressions", "Documents", "Drawing"]),
    library("Models", ["Basics", "Automata"]),
    library("Conformance", ["Basics", "Expressions", "Automata"]),
    // Protocols
    library("Bluetooth", ["Basics"]),
    library("Sesame", ["Basics", "Crypto", "Bluetooth", "CCrypto"]),
    // Links and families
    library("Links", ["Basics", "Conformance", "Bluetooth"]),
    library("SesameDevice", ["Basics", "Conformance", "Bluetooth", "Links", "Sesame"]),
    // Worlds
    library("Controllers", ["Basics", "Crypto", "Bluetooth"]),
    library(
      "Emulator",
      [
        "Basics", "Crypto", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame",
        "SesameDevice", "Links", "Controllers",
      ]),
    library("System", ["Basics", "Secrets", "CShims"]),
    library("Transports", ["Basics", "Secrets", "System", "Bluetooth", "CLibUSB", "CShims"]),
    library("Databases", ["Basics", "System", "CSQLite", "CPostgres"], small),
    // Programs as devices
    library(
      "Programs",
      [
        "Basics", "Secrets", "Files", "System", "Conformance", "Bluetooth", "Links", "Controllers",
        "Emulator",
      ]),
    // Record
    library("Journal", ["Basics", "System"]),
    // Harness and bench
    library(
      "Harness",
      ["Basics", "Secrets", "System", "Journal", "Documents", "Automata", "Models", "Conformance"]),
    library(
      "Bench",
      [
        "Basics", "Secrets", "System", "Journal", "Documents", "Conformance", "Bluetooth", "Links",
        "LockFiles",
        "Transports", "Databases", "CShims", "Files",
      ]),
    library(
      "LockFiles",
      [
        "Basics", "Secrets", "System", "Documents", "Conformance", "Bluetooth", "Sesame", "SesameDevice",
      ]),
    library("LanguageServer", ["Basics", "Documents", "Automata", "Harness"], small),
    library(
      "Devices",
      [
        "Basics", "Secrets", "System", "Journal", "Documents", "Automata", "Models", "Conformance",
        "Bluetooth", "Sesame",
        "SesameDevice", "Links", "LockFiles", "Controllers", "Emulator", "Programs", "Transports", "Bench",
        "Harness", "Files",
      ]),
    // Above
    library("CommandLine", ["Basics", "System", "Journal", "Documents", "Files"], small),
    library("Tours", ["Basics", "System", "Journal"], small),
    library(
      "Reporting", ["Basics", "Crypto", "Files", "Journal", "Secrets", "Drawing", "System", "Databases"]),
    library(
      "Nightly",
      [
        "Basics", "Secrets", "System", "Documents", "Conformance", "Journal", "LockFiles", "Transports",
        "Bench",
        "Devices", "Harness",
        "Reporting", "Files",
      ], small),
    library(
      "Benchmarks",
      [
        "Basics", "Secrets", "System", "Documents", "Automata", "Models", "Conformance", "Bluetooth",
        "Sesame",
        "SesameDevice", "Links", "Controllers", "Emulator", "Programs", "Transports", "Journal", "Bench",
        "Devices", "Harness", "Reporting", "Files",
      ]),
    // Edge: the command as a library, which the workbench of the tests has too, and the program
    .target(
      name: "lockstep",
      dependencies: [
        "Basics", "Secrets", "Documents", "Automata", "Models", "Conformance", "Bluetooth", "Sesame",
        "SesameDevice", "Links", "LockFiles",
        "Controllers", "Emulator", "System", "Transports", "Journal", "Programs", "Bench", "Devices",
        "Harness", "Databases", "Reporting",
        "Nightly", "Benchmarks", "CommandLine", "LanguageServer", "Tours",
      ],
      swiftSettings: settings + small),
    .executableTarget(name: "Main", dependencies: ["lockstep", "CommandLine"], swiftSettings: settings),
    // What tests need and the product has not: calls that fail, simulated labs, searches that measure the search itself
    .target(
      name: "CallFaults", dependencies: ["Basics", "System", "CSQLite"], path: "Tests/CallFaults",
      swiftSettings: settings),
    .executableTarget(
      name: "Workbench",
      dependencies: [
        "lockstep", "CallFaults", "Basics", "Documents", "Expressions", "Automata", "Models", "Conformance",
        "Bluetooth",
        "Sesame", "SesameDevice", "Emulator", "System", "Journal", "Bench", "Devices", "Harness", "Nightly",
        "Benchmarks", "CommandLine",
      ],
      path: "Tests/Workbench", swiftSettings: settings + optimized),
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
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CLibUSB", pkgConfig: "libusb-1.0", providers: [.apt(["libusb-1.0-0-dev"])]),
    .systemLibrary(name: "CBlueZ", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Without pkgConfig, which would link it: see its header.
    .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
    .target(name: "CShims", dependencies: ["CBlueZ"], cSettings: build),
    // The files that the command carries.
    .target(name: "CFiles", sources: ["CFiles.c"]),
    // Tests
    .target(
      name: "TestSupport", dependencies: ["Conformance"], path: "Tests/TestSupport", swiftSettings: settings),
    tests("DecoderChecks", ["DecoderChecks"], resources: [.copy("Corpus")]),
    tests("Basics", ["Basics"]),
    tests("Crypto", ["Crypto", "Basics"]),
    tests("Files", ["Files"]),
    tests("Drawing", ["Drawing"]),
    tests("Secrets", ["Secrets"]),
    tests("Documents", ["Documents", "Basics"]),
    tests("Expressions", ["Expressions", "Basics"]),
    tests("Automata", ["Automata", "Expressions", "Basics", "Documents"]),
    tests("Models", ["Models", "Automata", "Basics"]),
    tests("Conformance", ["Conformance", "Expressions", "Automata", "Models", "Documents", "Basics"]),
    tests("Bluetooth", ["Bluetooth", "Basics"]),
    tests("Sesame", ["Sesame", "Bluetooth", "Basics"], resources: [.copy("Vectors")]),
    tests("Links", ["Links", "Controllers", "Bluetooth", "Conformance", "Basics"]),
    tests("Controllers", ["Controllers", "Bluetooth", "Conformance", "Basics"]),
    tests("SesameDevice", ["SesameDevice", "Links", "Sesame", "Bluetooth", "Conformance", "Basics"]),
    tests(
      "Emulator",
      [
        "Emulator", "Controllers", "Harness", "SesameDevice", "Links", "Sesame", "Bluetooth", "Conformance",
        "Models",
        "Automata",
        "Basics",
      ],
      resources: [.copy("Golden")]),
    tests("System", ["System", "Secrets", "CallFaults", "Basics"]),
    tests("Transports", ["Transports", "System", "CallFaults", "Basics", "Bluetooth", "CLibUSB"]),
    tests(
      "LockFiles",
      ["LockFiles", "Conformance", "SesameDevice", "Sesame", "Bluetooth", "Documents", "System", "Basics"]),
    tests(
      "Bench",
      [
        "Bench", "LockFiles", "Emulator", "Controllers", "Transports", "Databases", "System", "CallFaults",
        "SesameDevice",
        "Links",
        "Sesame", "Bluetooth", "Conformance", "Documents", "Basics",
      ]),
    tests("Programs", ["Programs", "Links", "Controllers", "Conformance", "System", "Basics"]),
    tests(
      "Devices",
      [
        "Devices", "Programs", "Bench", "Emulator", "SesameDevice", "Links", "Sesame", "Bluetooth",
        "Automata", "Conformance", "Harness", "Journal", "System", "Basics",
      ]),
    tests(
      "Harness",
      ["Harness", "Journal", "Bench", "Emulator", "Models", "Automata", "Conformance", "Documents", "Basics"]),
    tests(
      "LanguageServer",
      ["LanguageServer", "Devices", "Harness", "Models", "Automata", "Documents", "Basics"]),
    tests("Journal", ["Journal", "Reporting", "System", "Basics"]),
    tests("Reporting", ["Reporting", "Databases", "Journal", "System", "CallFaults", "Basics"]),
    tests(
      "Nightly",
      ["Nightly", "Reporting", "Bench", "Journal", "Conformance", "Documents", "System", "Basics"]),
    tests(
      "Workbench",
      ["Workbench", "Benchmarks", "Automata", "Conformance", "Nightly", "Bench", "Basics"]),
    tests(
      "lockstep",
      [
        "lockstep", "CommandLine", "Tours", "Reporting", "LockFiles", "Bench", "Benchmarks", "Devices",
        "Nightly",
        "Journal", "Harness", "Conformance", "System", "Transports", "Databases", "Automata", "Models",
        "Documents", "Basics",
      ]),
    tests("Peer", ["lockstep"]),
    tests(
      "Scenario",
      [
        "lockstep", "Workbench", "Harness", "Journal", "Bench", "Emulator", "Models", "Automata",
        "Conformance",
        "Documents",
        "Basics",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
