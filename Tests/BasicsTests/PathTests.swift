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
    "a file is named from a folder so that it is found from there, wherever both are",
    arguments: [
      ("m.yaml", "Reports/failures", "../../m.yaml"), ("../m.yaml", "Reports/failures", "../../../m.yaml"),
      ("m.yaml", "/home/me/Reports/failures", "../../m.yaml"),
      ("m.yaml", "/else/failures", "../../home/me/m.yaml"), ("m.yaml", "../else/failures", "../../me/m.yaml"),
      ("../a/m.yaml", "../else", "../a/m.yaml"), ("/home/me/m.yaml", "Reports/failures", "/home/me/m.yaml"),
      ("/home/m.yaml", "/home/me/failures", "../../m.yaml"),
      ("a b's/m.yaml", "/x", "../home/me/a b's/m.yaml"),
      ("m.yaml", ".", "m.yaml"),
    ])
  func references(path: String, folder: String, result: String) {
    expect(Path.reference(to: path, from: folder, workingDirectory: "/home/me"), result)
    // Read from there it is the file.
    let here = "/home/me"
    expect(
      Path.join(here, Path.join(folder, result)), Path.join(here, path))
  }

  @Test(
    "what stands before a path leads from one folder to another, where that can be told",
    arguments: [
      ("runs/a", "Reports", "../runs/a/"), ("Reports/runs/a", "Reports", "runs/a/"), (".", ".", ""),
      ("/x/y", "/x", "y/"), ("/x/y", "a", "/x/y/"), ("a", "../b", "a/"),
    ])
  func ways(target: String, start: String, result: String) {
    expect(Path.relativePath(to: target, from: start), result)
  }

  @Test(
    "a folder is named from the root, or from where we are",
    arguments: [
      ("./runs", false, "runs/"), ("runs/", true, "/home/runs/"), ("/home/runs", false, "runs/"),
      (".", false, ""), (".", true, "/home/"), ("/else", false, "/else/"),
    ])
  func prefixes(folder: String, isAbsolute: Bool, result: String) {
    expect(Path.prefix(folder, isAbsolute: isAbsolute, workingDirectory: "/home"), result)
  }
}
