public import Journal

extension LabPlace {
  /// The way to its lock, as `--transport` takes it, where its tags say so.
  public var transport: String? { tag("transport") ?? tag("dongle").map { "dongle:" + $0 } }
}

/// How a command came to no place.
public enum NoPlace: Error {
  case usage(UsageError)
  /// What to say, and what to end with.
  case lab(String, CommandStatus)
}
