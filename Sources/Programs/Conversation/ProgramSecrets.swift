import Basics
import Bluetooth
package import Secrets
import System

/// The secrets for one program: names and values, on a separate descriptor.
///
/// They are one JSON object of strings. The environment variable `LOCKSTEP_SECRETS_FD` contains the number of the
/// descriptor, which ends after the object. No command line and no environment variable contains a secret.
package struct ProgramSecrets {
  private(set) var values: [(name: String, value: Secret)]

  /// Creates secrets, and hides them in all further output.
  package init(_ values: [(name: String, value: Secret)] = []) {
    self.values = values
    for (_, value) in values { Self.keep(value) }
  }

  /// Hides a secret in all output: the text itself and, if it is the hexadecimal form of a key, also the bytes.
  static func keep(_ secret: Secret) {
    Secrecy.keep(secret)
    if let bytes = try? [UInt8](hex: secret.revealed), bytes.count >= 8 { Secrecy.keep(Secret(bytes)) }
  }

  var names: [String] { values.map(\.name) }

  /// The data for the descriptor; `nil` if there are no secrets.
  var document: [UInt8]? {
    guard !values.isEmpty else { return nil }
    let object = JSON.mapping(values.map { JSON.Member($0.name, .text($0.value.revealed)) })
    return Array(object.line.utf8)
  }
}
