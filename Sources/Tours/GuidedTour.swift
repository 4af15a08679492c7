public import Journal

/// Some minutes with Lockstep in the terminal, as data: texts to read, commands that are run, and what to look at.
///
/// Nothing of it needs hardware, a network or the sources.
public struct GuidedTour: Sendable {
  /// A screen of it: what comes, what is done, and what there is to see.
  public struct Step: Sendable {
    public let title: String
    /// What comes, in paragraphs.
    let text: String
    public let actions: [Action]
    /// What to look at, once it was done.
    let look: String

    init(_ title: String, _ text: String, _ actions: [Action], look: String = "") {
      (self.title, self.text, self.actions, self.look) = (title, text, actions, look)
    }
  }

  /// What a step does, which a person could type.
  public enum Action: Sendable {
    /// Runs Lockstep with some words, one of which may be the name of a file with `*` in place of what only the run knows,
    /// and expects a status.
    case run([String], endsWith: CommandStatus)
    /// Goes into a folder.
    case enter(String)
    /// Shows a file.
    case show(String)
    /// Keeps a file under another name.
    case keep(String, as: String)
    /// Puts back what was kept, unless whoever looks on has changed the file.
    case restore(String, from: String)
    /// Puts other words in place of those that stand once in a file, unless whoever looks on has changed it.
    case change(String, from: String, to: String)
    /// Keeps what outlives a run in a folder of the tour.
    case keepState(String)
    /// Says where a page is, which must be there.
    case page(String)
  }

  /// A file that is there from the beginning.
  struct File: Sendable {
    var name: String
    var text: String

    init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
  }

  /// What it is called on the command line.
  public let name: String
  /// What it shows, in a line.
  public let title: String
  /// What comes, in paragraphs.
  let beginning: String
  /// What it needs beside Lockstep: names of programs.
  var programs: [String] = []
  var files: [File] = []
  public let steps: [Step]
  /// What was seen, in a paragraph.
  let end: String
  /// What to do next: each a command, and what it is good for.
  public let next: [(command: String, what: String)]

  /// All there are, the first of them for who asks for none by name.
  public static let all: [GuidedTour] = [.bug, .ownLock, .night]
}
