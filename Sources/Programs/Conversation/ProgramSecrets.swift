import Basics
import Bluetooth
package import Secrets
import System

/// The secrets for one program: names and values, on a descriptor of its own.
///
/// They are one JSON object of strings. The environment variable `LOCKSTEP_SECRETS_FD` has the number of the
/// descriptor, which ends after the object; no command line and no variable contains any of them.
package struct ProgramSecrets {
  private(set) var values: [(name: String, value: Secret)]

  /// Takes secrets, and keeps them out of everything that is written from now on.
  package init(_ values: [(name: String, value: Secret)] = []) {
    self.values = values
    for (_, value) in values { Self.keep(value) }
  }

  /// Keeps a secret out of what is written: as it is, and where it is the hexadecimal digits of a key, that too.
  static func keep(_ secret: Secret) {
    Secrecy.keep(secret)
    if let bytes = try? [UInt8](hex: secret.revealed), bytes.count >= 8 { Secrecy.keep(Secret(bytes)) }
  }

  var names: [String] { values.map(\.name) }

  /// What is written to the descriptor; `nil` where there is nothing to tell.
  var document: [UInt8]? {
    guard !values.isEmpty else { return nil }
    let object = JSON.mapping(values.map { JSON.Member($0.name, .text($0.value.revealed)) })
    return Array(object.line.utf8)
  }
}
