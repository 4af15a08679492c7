public import Journal

/// A short demonstration of Lockstep in the terminal, as data: texts to read, commands to run, and what to look at.
///
/// A tour needs no hardware, no network and no source code.
public struct GuidedTour: Sendable {
  /// A step of the tour: an introduction, the actions, and what to look at afterwards.
  public struct Step: Sendable {
    public let title: String
    /// The introduction, in paragraphs.
    let text: String
    public let actions: [Action]
    /// What to look at after the actions.
    let look: String

    init(_ title: String, _ text: String, _ actions: [Action], look: String = "") {
      (self.title, self.text, self.actions, self.look) = (title, text, actions, look)
    }
  }

  /// An action that a user could perform by typing.
  public enum Action: Sendable {
    /// Runs Lockstep with these words and expects an exit status. One word may be a file name with `*` in place of
    /// the parts that only the run determines.
    case run([String], endsWith: CommandStatus)
    /// Changes into a folder.
    case enter(String)
    /// Prints a file.
    case show(String)
    /// Copies a file to another name.
    case keep(String, as: String)
    /// Restores a file from its copy, unless the user has changed the file.
    case restore(String, from: String)
    /// Replaces text in a file, unless the user has changed the file.
    case change(String, from: String, to: String)
    /// Sets the folder for the state that outlives a run, to one within the tour.
    case keepState(String)
    /// Prints the path of a page, which must exist.
    case page(String)
  }

  /// A file that exists from the start of the tour.
  struct File: Sendable {
    var name: String
    var text: String

    init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
  }

  /// The name of the tour on the command line.
  public let name: String
  /// The subject of the tour, in a line.
  public let title: String
  /// The introduction, in paragraphs.
  let beginning: String
  /// The names of the programs that the tour requires besides Lockstep.
  var programs: [String] = []
  var files: [File] = []
  public let steps: [Step]
  /// The summary, in a paragraph.
  let end: String
  /// Suggestions for what to do next: commands with their purposes.
  public let next: [(command: String, what: String)]

  /// All tours; the first is the default.
  public static let all: [GuidedTour] = [.bug, .ownLock, .night]
}
