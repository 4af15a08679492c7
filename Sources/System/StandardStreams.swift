import Glibc

/// The descriptors 0 to 2, which every program takes to be its standard input, output and error.
public enum StandardStreams {
  /// Takes those of them that are closed, before anything is opened: the first file of ours would get that number, and what
  /// is said would be written into it.
  ///
  /// What takes their place can only be read, and is empty: so writing to one fails as it would have.
  public static func take() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where Glibc.fcntl(descriptor, F_GETFD) < 0 {
      // The system gives the lowest number that is free.
      let place = unsafe Glibc.open("/dev/null", O_RDONLY)
      precondition(place < 0 || place == descriptor, "descriptor \(descriptor) is free, and was not given")
    }
  }
}
