// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else's, which makes a Bluetooth peripheral of Lockstep's libraries.
let package = Package(
  name: "battery",
  dependencies: [.package(name: "lockstep", path: "../..")],
  targets: [
    .target(
      name: "Battery",
      dependencies: [
        .product(name: "Basics", package: "lockstep"), .product(name: "Bluetooth", package: "lockstep"),
      ]),
    .testTarget(
      name: "BatteryTests",
      dependencies: [
        "Battery", .product(name: "Basics", package: "lockstep"),
        .product(name: "Bluetooth", package: "lockstep"), .product(name: "Controllers", package: "lockstep"),
        .product(name: "Automata", package: "lockstep"), .product(name: "Conformance", package: "lockstep"),
        .product(name: "Sesame", package: "lockstep"),
      ]),
  ])
