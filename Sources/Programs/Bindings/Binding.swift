import Files

/// A file for those who use Lockstep from another language or from another framework of tests.
package struct Binding: Sendable {
  /// What it is for.
  package enum Purpose: Sendable {
    /// A device in another language: it speaks the lines of ``ExecDevice``, and what the device does is left to write.
    case device
    /// A framework of tests that is to run scenarios.
    case tests
  }

  /// The language or the framework, as it is asked for.
  package let language: String
  /// What it is for.
  package let purpose: Purpose
  /// What the file is to be called.
  package let fileName: String
  private let file: EmbeddedFile

  /// All of it.
  package var text: String { file.text }

  /// All that there are.
  package static let all = [
    Binding(language: "python", purpose: .device, fileName: "lockstep_device.py", file: .pythonDevice),
    Binding(language: "c", purpose: .device, fileName: "lockstep_device.h", file: .cDevice),
    Binding(language: "pytest", purpose: .tests, fileName: "lockstep_pytest.py", file: .pytestPlugin),
  ]
}
