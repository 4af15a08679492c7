import Files

/// A file for those who use Lockstep from another language or from another framework of tests.
public struct Binding: Sendable {
  /// What it is for.
  public enum Purpose: Sendable {
    /// A device in another language: it speaks the lines of ``ExecDevice``, and what the device does is left to write.
    case device
    /// A framework of tests that is to run scenarios.
    case tests
  }

  /// The language or the framework, as it is asked for.
  public let language: String
  /// What it is for.
  public let purpose: Purpose
  /// What the file is to be called.
  public let fileName: String
  private let file: EmbeddedFile

  /// All of it.
  public var text: String { file.text }

  /// All that there are.
  public static let all = [
    Binding(language: "python", purpose: .device, fileName: "lockstep_device.py", file: .pythonDevice),
    Binding(language: "c", purpose: .device, fileName: "lockstep_device.h", file: .cDevice),
    Binding(language: "pytest", purpose: .tests, fileName: "lockstep_pytest.py", file: .pytestPlugin),
  ]
}
