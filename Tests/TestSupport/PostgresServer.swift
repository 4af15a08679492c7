import Foundation

/// A server of PostgreSQL for tests: on a socket in a folder of its own, as a user without rights, until the tests end.
public final class PostgresServer: Sendable {
  /// The folder of its socket.
  public let folder: String

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
    // A thread of these tests may have signals blocked without which a shell cannot wait.
    let unblock =
      "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); "
      + "os.execv(sys.argv[1], sys.argv[1:])"
    shell.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    shell.arguments = [
      "python3", "-c", unblock, "/bin/bash", "-c", Self.script, "postgres", programs, folder,
      String(getpid()),
    ]
    try shell.run()
    shell.waitUntilExit()
    let isReady = FileManager.default.fileExists(atPath: folder + "/ready")
    guard isReady else { throw CocoaError(.executableLoad) }
  }

  /// The server will not run as root. What watches over it holds none of the files that these tests have open, or
  /// Foundation would take it for the processes that it waits for; it ends the server when the tests have ended.
  private static let script = """
    mkdir -m 755 "$2" && cd "$2" || exit
    (
      for file in /proc/$BASHPID/fd/*; do
        number=${file##*/}
        [ "$number" -le 2 ] || eval "exec $number>&-"
      done
      exec </dev/null >/dev/null 2>&1
      as=()
      if [ "$(id -u)" = 0 ]; then
        chown postgres: .
        as=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
      fi
      "${as[@]}" "$1/initdb" -D data -A trust -U lockstep -E UTF8 --locale=C --no-sync --no-instructions
      "${as[@]}" timeout 900 "$1/postgres" -D data -k "$2" -c listen_addresses= -c fsync=off \
        -c shared_buffers=16MB >postgres.log 2>&1 &
      server=$!
      while kill -0 "$3" && kill -0 $server; do
        [ -e ready ] || ! "$1/pg_isready" -qh "$2" || touch ready
        sleep 0.1
      done
      kill -INT $server
      wait $server
      rm -rf "$2"
    ) &
    for _ in {1..600}; do
      [ ! -e ready ] || exit 0
      sleep 0.05
    done
    """
}
