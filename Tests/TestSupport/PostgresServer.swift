import Foundation

/// A server of PostgreSQL for tests: on a socket in a folder of its own, as a user without rights, until the tests end.
public final class PostgresServer: Sendable {
  /// The folder of its socket.
  public let folder: String

  /// While this is held, the server runs.
  private let input = Pipe()

  /// Whether one is installed, or must be.
  public static let isThere =
    ProcessInfo.processInfo.environment["LOCKSTEP_REQUIRE_PEERS"] == "1" || programs != nil

  /// The one server of all tests, started when it is first asked for; `nil` when it does not start.
  public static let shared: PostgresServer? = try? PostgresServer()

  /// The URL of one of its databases.
  public func url(_ database: String) -> String {
    "postgres:///\(database)?host=\(folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!)&user=lockstep"
  }

  /// The URL of a database that nobody used before.
  public func newDatabase() throws -> String {
    let name = "h" + UUID().uuidString.filter(\.isHexDigit).lowercased()
    let psql = Process()
    psql.executableURL = URL(fileURLWithPath: (Self.programs ?? "") + "/psql")
    psql.arguments = ["-qh", folder, "-U", "lockstep", "-d", "postgres", "-c", "CREATE DATABASE \(name)"]
    psql.standardOutput = FileHandle.nullDevice
    try psql.run()
    psql.waitUntilExit()
    guard psql.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return url(name)
  }

  private static let programs: String? = {
    let place = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    return versions.compactMap(Int.init).max().map { "\(place)/\($0)/bin" }
  }()

  private init() throws {
    guard let programs = Self.programs else { throw CocoaError(.executableNotLoadable) }
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("lockstep-pg-\(getpid())").path
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", Self.script, "postgres", programs, folder]
    // It ends when nobody holds the other end of its input any more, however these tests end.
    let output = Pipe()
    shell.standardInput = input
    shell.standardOutput = output
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    let answer = output.fileHandleForReading.availableData
    guard String(decoding: answer, as: UTF8.self) == "ready\n" else { throw CocoaError(.executableLoad) }
  }

  /// The server will not run as root.
  private static let script = """
    set -eu
    exec 2>/dev/null
    mkdir -m 755 "$2"
    cd "$2"
    as=()
    if [ "$(id -u)" = 0 ]; then
      chown postgres: .
      as=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
    fi
    "${as[@]}" "$1/initdb" -D data -A trust -U lockstep -E UTF8 --locale=C --no-sync --no-instructions >init.log
    "${as[@]}" timeout 900 "$1/postgres" -D data -k "$2" -c listen_addresses= -c fsync=off \
      -c shared_buffers=16MB </dev/null >postgres.log 2>&1 &
    server=$!
    trap 'kill -INT $server; wait $server; rm -rf "$2"' EXIT
    for _ in {1..200}; do
      if "$1/pg_isready" -qh "$2"; then
        echo ready
        exec >&-
        cat
        exit
      fi
      sleep 0.05
    done
    """
}
