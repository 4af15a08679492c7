public import Journal

extension LabPlace {
  /// The transport to its lock, in the form of `--transport`, if the place's tags name one.
  public var transport: String? { tag("transport") ?? tag("dongle").map { "dongle:" + $0 } }
}

/// Why a command has no place.
public enum NoPlace: Error {
  case usage(UsageError)
  /// The message, and the exit status of the command.
  case lab(String, CommandStatus)
}
