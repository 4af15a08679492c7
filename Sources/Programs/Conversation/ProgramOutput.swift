package import System

/// Stores the standard error and the log messages of device programs in the folder of a run: `programs.log`, which is
/// created with the first output.
package final class ProgramOutput {
  /// The name of the file.
  package static let name = "programs.log"
  /// The maximum size of the file: a program that never stops writing must not fill a disk.
  static let maximumSize = 64 << 20
  /// The number of bytes of the current case that stay in memory.
  private static let tail = 4096

  private let path: String?
  private let echo: ((String) -> Void)?
  private var file: OutputFile?
  private var room = ProgramOutput.maximumSize
  private var last: [UInt8] = []
  /// Why the file is incomplete, if it could not be written.
  package private(set) var fault: FileFault?

  /// Creates a store with a file in a folder, if there is one.
  ///
  /// - Parameter echo: Receives the lines as they arrive.
  package init(in folder: String?, echo: ((String) -> Void)? = nil) {
    path = folder.map { "\($0)/\(Self.name)" }
    self.echo = echo
  }

  /// Starts a case.
  package func begin() { last = [] }

  /// Whether the programs have written nothing in the case.
  package var isEmpty: Bool { last.isEmpty }

  /// The last lines of the case.
  package var lastLines: [String] {
    printable(last).split(separator: "\n", omittingEmptySubsequences: true).suffix(5).map { String($0) }
  }

  /// Appends a program's output.
  func take(_ bytes: ArraySlice<UInt8>) {
    last = (last + bytes).suffix(Self.tail)
    if let echo {
      for line in printable(bytes).split(separator: "\n", omittingEmptySubsequences: true) {
        echo(String(line))
      }
    }
    guard let path, fault == nil, room > 0 else { return }
    do throws(FileFault) {
      if file == nil { file = try OutputFile(appendingTo: path) }
      try file?.write(String(decoding: bytes.prefix(room), as: UTF8.self))
      room -= bytes.count
    } catch {
      fault = error
    }
  }
}
