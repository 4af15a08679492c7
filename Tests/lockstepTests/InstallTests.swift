import Foundation
import TestSupport
import Testing

/// What is installed, and that nothing of it stays.
@Suite("Installing", .timeLimit(.minutes(10)))
struct InstallTests {
  private static let install = Command.root + "/.ci/install"

  @Test("the command runs where it is installed, with its manual and completions, and is removed whole")
  func whole() throws {
    let folder = try Command.Folder()
    let script = """
      '\(Self.install)' "$LOCKSTEP" "$PWD/a package's" /usr/local && cd "a package's/usr/local"
      find . -type f -perm -u=x | sort
      find . -type f ! -perm -u=x | sort
      [ "$(bin/lockstep version)" = "$("$LOCKSTEP" version)" ] && cmp <("$LOCKSTEP" man) share/man/man1/lockstep.1 &&
        bash -n share/bash-completion/completions/lockstep && echo same
      '\(Self.install)' --remove ../.. /usr/local >/dev/null; cd ../.. && find . -type f
      """
    let result = try Command.shell("bash -c '\(script.replacing("'", with: "'\\''"))'", in: folder.path)
    expect(result.errors, "")
    expect(
      result.output.split(separator: "\n").dropFirst().map(String.init),
      [
        "./bin/lockstep", "./share/bash-completion/completions/lockstep",
        "./share/fish/vendor_completions.d/lockstep.fish", "./share/man/man1/lockstep.1",
        "./share/zsh/site-functions/_lockstep", "same",
      ])
    #expect(result.output.hasPrefix("lockstep "), "\(result.output)")
    #expect(result.output.contains(" is installed as "), "\(result.output)")
  }

  @Test("one that does not run here is not installed, and what was there stays")
  func broken() throws {
    let folder = try Command.Folder()
    let script = """
      mkdir -p usr/bin && echo old > usr/bin/lockstep
      printf '#!/bin/sh\\nexit 127\\n' > bad && chmod +x bad
      '\(Self.install)' ./bad "$PWD" /usr; echo "status $?"; cat usr/bin/lockstep; find usr -type f
      """
    let result = try Command.shell(script, in: folder.path)
    expect(
      result.output.split(separator: "\n").map(String.init), ["status 127", "old", "usr/bin/lockstep"])
  }
}
