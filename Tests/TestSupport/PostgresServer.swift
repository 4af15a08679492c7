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
    let psql = try Program.run(
      (Self.programs ?? "") + "/psql",
      ["-qh", folder, "-U", "lockstep", "-d", "postgres", "-c", "CREATE DATABASE \(name)"])
    guard psql.status == 0 else { throw CocoaError(.executableLoad) }
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
    _ = try Program.run(
      "/bin/bash", ["-c", Self.script, "postgres", programs, folder, String(getpid())])
    let isReady = FileManager.default.fileExists(atPath: folder + "/ready")
    guard isReady else { throw CocoaError(.executableLoad) }
  }

  /// The server will not run as root. What watches over it ends it when the tests have ended.
  private static let script = """
    mkdir -m 755 "$2" && cd "$2" || exit
    (
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
