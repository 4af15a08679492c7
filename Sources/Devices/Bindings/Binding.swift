/// A file for those who write a device in another language: it speaks the lines of ``ExecDevice``, and what the device does
/// is left to write.
public struct Binding: Sendable {
  /// The language, as it is asked for.
  public let language: String
  /// What the file is to be called.
  public let fileName: String
  /// All of it.
  public let text: String

  /// All that there are.
  public static let all = [
    Binding(language: "python", fileName: "lockstep_device.py", text: python),
    Binding(language: "c", fileName: "lockstep_device.h", text: c),
    Binding(language: "rust", fileName: "lockstep_device.rs", text: rust),
  ]
}
