import Glibc

/// The descriptors 0 to 2, which every program uses as its standard input, output and error.
public enum StandardStreams {
  /// Fills closed standard streams before anything is opened: otherwise our first file would get that number, and
  /// messages would be written to it.
  ///
  /// The substitutes are empty and read-only, so that writing to one fails as before.
  public static func take() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where Glibc.fcntl(descriptor, F_GETFD) < 0 {
      // The system assigns the lowest free number.
      let place = unsafe Glibc.open("/dev/null", O_RDONLY)
      precondition(place < 0 || place == descriptor, "descriptor \(descriptor) is free, and was not given")
    }
  }
}
