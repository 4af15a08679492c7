import Foundation
import TestSupport
import Testing

/// What is installed, and that nothing of it stays.
@Suite("Installing", .timeLimit(.minutes(5)))
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

  private static let image = Command.root + "/.ci/image"

  @Test("without podman and docker, or with a client that has no daemon, it is said what to do")
  func noEngine() throws {
    let folder = try Command.Folder()
    let script = """
      mkdir bin && ln -s "$(command -v bash)" "$(command -v dirname)" bin && PATH=$PWD/bin
      '\(Self.image)'; echo "status $?"
      printf '#!/bin/sh\\n[ "$1" != info ] || exit 1\\necho built\\n' >bin/docker
      /bin/chmod +x bin/docker
      '\(Self.image)'; echo "status $?"
      """
    let result = try Command.shell(script, in: folder.path)
    expect(result.output, "status 1\nstatus 1\n")
    let said = result.errors.components(separatedBy: "An image is built by podman or by docker")
    expect(said.count, 3)
    #expect(said[1].contains("sudo apt-get install --yes podman"), "\(result.errors)")
  }

  @Test("an image is built of what git knows of, with the version and the commit as labels")
  func image() throws {
    let folder = try Command.Folder()
    // In place of podman, says what it was asked for, and what it was given.
    try folder.write(
      "bin/podman",
      """
      #!/bin/bash
      [ "$1" != info ] || exit 0
      printf '%s\\n' "$@" >asked
      cp "$3" got && cd "${@: -1}" && find . -type f | sort >"$OLDPWD/files"
      """)
    let script = """
      git clone --quiet --depth 1 'file://\(Command.root)' clone 2>&1 || exit 9
      cp '\(Self.image)' '\(Command.root)/.ci/Containerfile' clone/.ci/ && git -C clone add .ci
      chmod +x bin/podman && echo secret >clone/lock.yaml && rm clone/README.md
      PATH=$PWD/bin:$PATH clone/.ci/image --no-cache; echo "status $?"
      cmp clone/got clone/.ci/Containerfile && git -C clone rev-parse HEAD
      """
    let result = try Command.shell(script, in: folder.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("status 0"), "\(result.output)\(result.errors)")
    let commit = try #require(lines.last)
    let asked = try folder.read("clone/asked").split(separator: "\n").map(String.init)
    expect(Array(asked[3...4]), ["--tag", "lockstep:latest"])
    #expect(asked.contains("REVISION=\(commit)") && asked.contains("--no-cache"), "\(asked)")
    #expect(asked.contains { $0.hasPrefix("BUILD=\(commit.prefix(9))+ 20") }, "\(asked)")
    let version = try Command.call("version").output
    let named = try #require(asked.first { $0.hasPrefix("VERSION=") })
    #expect(version.hasPrefix("lockstep \(named.dropFirst(8))"), "\(version)")
    let files = try folder.read("clone/files")
    #expect(files.contains("./Package.swift\n") && files.contains("./Scenarios/door/open-and-close.yaml\n"))
    for other in ["lock.yaml", "README.md", ".git/", ".build/"] { #expect(!files.contains("./\(other)")) }
  }
}
