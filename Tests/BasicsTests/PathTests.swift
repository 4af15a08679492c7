import Basics
import TestSupport
import Testing

@Suite("Paths")
struct PathTests {
  @Test(
    "paths go where they seem to go",
    arguments: [
      ("a/b", "../c", "a/c"), ("a", "./b/./c", "a/b/c"), (".", "../a", "../a"), ("/a/b", "../../../c", "/c"),
      ("a", "/b//c/", "/b/c"), ("a", "..", "."),
    ])
  func paths(folder: String, path: String, result: String) {
    expect(Path.join(folder, path), result)
  }

  @Test(
    "a path is seen from a folder",
    arguments: [
      ("a/b/c", "a/d", "../b/c"), ("a", "b/c", "../../a"), ("/x/y", "/x", "y"),
    ])
  func relativePaths(path: String, folder: String, result: String) {
    expect(Path.relative(path, from: folder), result)
  }

  @Test(
    "what stands before a path leads from one folder to another, where that can be told",
    arguments: [
      ("runs/a", "Reports", "../runs/a/"), ("Reports/runs/a", "Reports", "runs/a/"), (".", ".", ""),
      ("/x/y", "/x", "y/"), ("/x/y", "a", "/x/y/"), ("a", "../b", "a/"),
    ])
  func ways(target: String, start: String, result: String) {
    expect(Path.way(to: target, from: start), result)
  }

  @Test(
    "a folder is named from the root, or from where we are",
    arguments: [
      ("./runs", false, "runs/"), ("runs/", true, "/home/runs/"), ("/home/runs", false, "runs/"),
      (".", false, ""), (".", true, "/home/"), ("/else", false, "/else/"),
    ])
  func prefixes(folder: String, isAbsolute: Bool, result: String) {
    expect(Path.prefix(folder, isAbsolute: isAbsolute, here: "/home"), result)
  }
}
