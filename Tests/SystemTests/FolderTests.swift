import Basics
import Foundation
import TestSupport
import Testing

@testable import System

@Suite("Folders")
struct FolderTests {
  private let folder = TestFolder()
  private var path: String { folder.path }

  private func make(_ names: String...) throws {
    for name in names { try makeFolder(path + "/" + name) }
  }

  @Test("a folder is made with those above it, and what stands in its place is said")
  func making() throws {
    try make("a/b/c", "a/b")
    expect(filesBelow(path), [])
    folder.write("a/file", "")
    expect(
      #expect(throws: FileFault.self) { try makeFolder(path + "/a/file/b") }?.description,
      "\(path)/a/file/b: Not a directory")
    makeFolders(above: path + "/x/y/file")
    expect(fileKind(path + "/x/y"), .folder)
  }

  @Test("names are in order, with or without those that begin with a dot; a folder that is missing has none")
  func names() throws {
    try make("b/deep", ".git")
    for name in ["c", "a", ".hidden", "b/deep/file", "b/.no", ".git/config"] { folder.write(name, "12345") }
    try #require(unsafe symlink("b", path + "/link") == 0)
    expect(try FolderNames.listed(in: path), [".git", ".hidden", "a", "b", "c", "link"])
    expect(folderEntries(path), ["a", "b", "c", "link"])
    expect(filesBelow(path), ["a", "b/deep/file", "c", "link"])
    expect(FolderNames.size(below: path), 6 * 5 + 1)
    expect(try FolderNames.listed(in: path + "/none"), [])
    expect(folderEntries(path + "/none"), nil)
    expect(filesBelow(path + "/a"), nil)
    expect(
      #expect(throws: FileFault.self) { _ = try FolderNames.listed(in: path + "/a") }?.description,
      "\(path)/a: Not a directory")
    expect(try FolderNames.knownKind(path + "/link"), .other(.link))
    let long = path + "/" + String(repeating: "n", count: 300)
    expect(
      #expect(throws: FileFault.self) { _ = try FolderNames.knownKind(long) }?.description,
      "\(long): File name too long")
  }

  @Test("a folder goes with all that is in it, and what its links lead to stays")
  func removal() throws {
    try make("gone/deep/er", "kept")
    for name in ["gone/one", "gone/deep/two", "kept/three"] { folder.write(name, "") }
    for (name, target) in [
      ("gone/file", "../kept/three"), ("gone/folder", "../kept"), ("gone/deep/none", "x"),
    ] {
      try #require(unsafe symlink(target, path + "/" + name) == 0)
    }
    try removeFolder(path + "/gone")
    expect(folder.names, ["kept"])
    expect(filesBelow(path), ["kept/three"])
    for (name, reason) in [
      ("none", "there is no such file or folder"), ("kept/three", "Not a directory"),
    ] {
      expect(
        #expect(throws: FileFault.self) { try removeFolder(path + "/" + name) }?.description,
        "\(path)/\(name): \(reason)")
    }
    try #require(unsafe symlink("kept", path + "/link") == 0)
    expect(#expect(throws: FileFault.self) { try removeFolder(path + "/link") }?.path, path + "/link")
    try removeFile(path + "/link")
    try removeFile(path + "/link")
    expect(
      #expect(throws: FileFault.self) { try removeFile(path + "/kept") }?.description,
      "\(path)/kept: Is a directory")
    expect(filesBelow(path), ["kept/three"])
  }

  @Test("a folder gets a name that is free, or that of an empty folder")
  func renaming() throws {
    try make("one", "empty", "full/deep")
    folder.write("one/file", "")
    expect(try rename(path + "/one", to: path + "/full"), false)
    expect(try rename(path + "/one", to: path + "/empty"), true)
    expect(filesBelow(path), ["empty/file"])
    expect(
      #expect(throws: FileFault.self) { _ = try rename(path + "/none", to: path + "/x") }?.description,
      "\(path)/x: there is no such file or folder")
  }

  @Test("a folder is held by one, which the others are told of, and it is free when that one lets go")
  func hold() throws {
    expect(FolderHold.state(at: path), .free)
    var hold: FolderHold? = try FolderHold(path)
    expect(hold?.left, nil)
    let sight = FolderHold.state(at: path)
    guard case .held(let holder?) = sight else { return #expect(Bool(false), "\(sight)") }
    expect(holder.process, getpid())
    expect(holder.host, Host.name)
    expect(holder.description, "process \(getpid()) on \(Host.name), since \(holder.since)")
    expect(#expect(throws: FolderHold.Refusal.self) { _ = try FolderHold(path) }, .held(holder))
    expect(try sight.isHeld(), true)
    hold = nil
    expect(FolderHold.state(at: path), .free)
    expect(folder.read(FolderHold.file), "")
    // Its holder died with its name in it.
    folder.write(FolderHold.file, "4711\nbench-01\n2026-11-21T00:50:17Z\n")
    hold = try FolderHold(path)
    expect(hold?.left?.description, "process 4711 on bench-01, since 2026-11-21T00:50:17Z")
  }

  @Test("a folder that cannot be held, or looked at, is not held and not free")
  func noHold() throws {
    let none = path + "/none"
    let fault = FileFault(path: none + "/" + FolderHold.file, code: ENOENT)
    expect(#expect(throws: FolderHold.Refusal.self) { _ = try FolderHold(none) }, .fault(fault))
    expect(try FolderHold.state(at: none).isHeld(), false)
    let sight = FolderHold.State.unknown(fault)
    expect(#expect(throws: FileFault.self) { _ = try sight.isHeld() }, fault)
    // A name in it that leads elsewhere is not followed.
    folder.write("victim", "mine")
    try #require(unsafe symlink("victim", path + "/" + FolderHold.file) == 0)
    expect(
      #expect(throws: FolderHold.Refusal.self) { _ = try FolderHold(path) },
      .fault(FileFault(path: path + "/" + FolderHold.file, code: ELOOP)))
    expect(folder.read("victim"), "mine")
  }

  @Test("the first who uses a folder cleans it up, and the next one only when all have gone")
  func use() throws {
    var count = 0
    var uses: [FolderUse?] = []
    for _ in 0..<3 { uses.append(FolderUse(of: path) { count += 1 }) }
    expect(uses.allSatisfy { $0 != nil }, true)
    expect(count, 1)
    uses = []
    expect(FolderUse(of: path) { count += 1 } == nil, false)
    expect(count, 2)
    expect(FolderUse(of: path + "/none") {} == nil, true)
  }

  // swift-format-ignore
  private static let temporaries: [(String, String?)] = [
    ("report.xml.1abc9.new", "report.xml"), ("a.b.new", "a"), ("a.new", nil), ("report.xml", nil), ("a.B.new", nil),
    ("a.12345678901234.new", nil), ("a..new", nil), ("a.x y.new", nil), ("a.é.new", nil), ("a.1.old", nil), (".1.new", ""),
  ]

  @Test("a temporary file is known by its name", arguments: temporaries)
  func temporary(name: String, target: String?) {
    expect(Replacement.target(ofTemporary: name), target)
    expect(Replacement.target(ofTemporary: Replacement.uniqueName(beside: name)), name)
  }

  @Test("room that is kept for a file has no name, and there is none where there is no file")
  func room() throws {
    let space = try ReservedSpace(for: path + "/new/report.xml", bytes: 4096)
    expect(folder.names, ["new"])
    expect(filesBelow(path), [])
    space.release()
    space.release()
    expect(try ReservedSpace(for: "/dev/null", bytes: 1 << 60) === space, false)
    expect(
      #expect(throws: FileFault.self) { _ = try ReservedSpace(for: path + "/huge", bytes: 1 << 62) }?.path,
      path)
    expect(folder.names, ["new"])
  }

  @Test("what changes in a folder that is watched is said by its path, and what stands beside it is not")
  func watch() throws {
    try make("seen/deep", "seen/.git", "unseen", "seen/skipped")
    var watch = try FolderWatch()
    try watch.add(tree: path + "/seen", besides: [path + "/seen/skipped"])
    try watch.add(path + "/none")
    for name in ["seen/one", "seen/deep/two", "seen/.git/three", "seen/skipped/four", "unseen/five"] {
      _ = try OutputFile(creating: path + "/" + name)
    }
    let news = try watch.next(or: [], within: .seconds(60))
    expect(news, .changes(Set(["seen/one", "seen/deep/two"].map { ExactText(path + "/" + $0) })))
    let silence = try watch.next(or: [], within: .zero)
    expect(silence, .others)
  }

  // swift-format-ignore
  private static let watchFaults: [(WatchFault, String)] = [
    (WatchFault(code: ENOSPC, folder: "a"), "a: no more folders can be watched: this user's limit of them is used up (sysctl fs.inotify.max_user_watches)"),
    (WatchFault(code: EMFILE), "changes cannot be watched: this user's limit of programs that do so is used up (sysctl fs.inotify.max_user_instances), or too many files are open"),
    (WatchFault(code: EACCES, folder: "a"), "a: changes cannot be watched: Permission denied"),
  ]

  @Test("what hinders watching is said with what helps")
  func watchFault() { for (fault, text) in Self.watchFaults { expect(fault.description, text) } }
}
