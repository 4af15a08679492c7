import System
import Basics
import Transports

extension Figure {
  /// The cost of the transport to a controller.
  static var transport: Figure {
    Figure(
      name: "transport.tcp-overhead", unit: "ms", better: .lower,
      method:
        "What an HCI command and its answer take over tcp-client, encoded and decoded, beyond what the same octets "
        + "take over a blocking socket, against the same emulated controller in another process; the least of 9 "
        + "rounds of 2000 each, by turns.",
      measure: overhead)
  }

  private static func overhead() -> Double? {
    guard let program = Host.program,
      let overhead = TransportOverhead.measure(
        server: [
          program, "emulate", "controllers", "--serve", "tcp-server:127.0.0.1:0", "--duration", "2min",
        ], rounds: 9, commands: 2000)
    else { return nil }
    return max(0, (overhead.transport - overhead.socket).seconds * 1000)
  }
}
