import Files

/// A file for users of Lockstep in another language or another test framework.
package struct Binding: Sendable {
  /// The purpose of a binding.
  package enum Purpose: Sendable {
    /// A device in another language: the file implements the lines of ``ExecDevice``, and the user adds the behaviour
    /// of the device.
    case device
    /// A test framework that runs scenarios.
    case tests
  }

  /// The name of the language or the framework in a request.
  package let language: String
  /// The purpose of the file.
  package let purpose: Purpose
  /// The default name of the file.
  package let fileName: String
  private let file: EmbeddedFile

  /// The contents of the file.
  package var text: String { file.text }

  /// All bindings.
  package static let all = [
    Binding(language: "python", purpose: .device, fileName: "lockstep_device.py", file: .pythonDevice),
    Binding(language: "c", purpose: .device, fileName: "lockstep_device.h", file: .cDevice),
    Binding(language: "pytest", purpose: .tests, fileName: "lockstep_pytest.py", file: .pytestPlugin),
  ]
}
