import CFiles

/// A file that is embedded in the command.
public struct EmbeddedFile: Sendable {
  /// The content of the file.
  public let text: String

  private init(_ start: UnsafePointer<CChar>) { unsafe text = String(cString: start) }
}

extension EmbeddedFile {
  // The files that `lockstep bindings` prints.
  public static var pythonDevice: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_pythonDevice()) }
  public static var pytestPlugin: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_pytestPlugin()) }
  public static var cDevice: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_cDevice()) }
}

extension EmbeddedFile {
  // The files that `lockstep new` writes, for each kind of lock.
  public static var commonNightly: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_commonNightly()) }
  public static var commonWorkflow: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_commonWorkflow()) }
  public static var driverReadme: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverReadme()) }
  public static var driverMachine: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverMachine()) }
  public static var driverProgram: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverProgram()) }
  public static var driverLock: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverLock()) }
  public static var driverBench: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverBench()) }
  public static var driverRealLock: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverRealLock()) }
  public static var driverChangesCode: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverChangesCode()) }
  public static var driverLostLink: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverLostLink()) }
  public static var driverOpens: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverOpens()) }
  public static var driverShutsOut: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_driverShutsOut()) }
  public static var execReadme: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execReadme()) }
  public static var execMachine: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execMachine()) }
  public static var execProgram: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execProgram()) }
  public static var execBench: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execBench()) }
  public static var execChangesCode: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execChangesCode()) }
  public static var execOpens: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execOpens()) }
  public static var execShutsOut: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_execShutsOut()) }
}

extension EmbeddedFile {
  // The completions for shells.
  public static var bashCompletions: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_bashCompletions()) }
  public static var zshCompletions: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_zshCompletions()) }
  public static var fishCompletions: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_fishCompletions()) }
}

extension EmbeddedFile {
  // The page of a run, and the schema of its JUnit report.
  public static var pageStyle: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_pageStyle()) }
  public static var pageScript: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_pageScript()) }
  public static var junitSchema: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_junitSchema()) }
}

extension EmbeddedFile {
  // The recipes of `lockstep schedule`, with `{{names}}` as placeholders.
  public static var recipeSystemd: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeSystemd()) }
  public static var recipeNightService: EmbeddedFile {
    unsafe EmbeddedFile(lockstep_file_recipeNightService())
  }
  public static var recipeRunService: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeRunService()) }
  public static var recipeSlurm: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeSlurm()) }
  public static var recipeKubernetes: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeKubernetes()) }
  public static var recipeJenkins: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeJenkins()) }
  public static var recipeGitLab: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeGitLab()) }
  public static var recipeGitLabBuild: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeGitLabBuild()) }
  public static var recipeGitLabReport: EmbeddedFile {
    unsafe EmbeddedFile(lockstep_file_recipeGitLabReport())
  }
  public static var recipeGitLabOutcome: EmbeddedFile {
    unsafe EmbeddedFile(lockstep_file_recipeGitLabOutcome())
  }
  public static var recipeGitHub: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_recipeGitHub()) }
  public static var recipeGitHubReport: EmbeddedFile {
    unsafe EmbeddedFile(lockstep_file_recipeGitHubReport())
  }
}

extension EmbeddedFile {
  // The program that connects to labgrid's coordinator through labgrid's own library.
  public static var labgridCoordinator: EmbeddedFile {
    unsafe EmbeddedFile(lockstep_file_labgridCoordinator())
  }
}

extension EmbeddedFile {
  // The programs for measuring figures.
  public static var benchKeypad: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_benchKeypad()) }
  public static var benchKeypadInC: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_benchKeypadInC()) }
  public static var benchKeypadMachine: EmbeddedFile {
    unsafe EmbeddedFile(lockstep_file_benchKeypadMachine())
  }
  public static var benchDriver: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_benchDriver()) }
  public static var benchLock: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_benchLock()) }
  public static var benchCipher: EmbeddedFile { unsafe EmbeddedFile(lockstep_file_benchCipher()) }
}

extension EmbeddedFile {
  /// Returns the content of the file with a value instead of each `{{name}}`.
  ///
  /// A name alone on its line is replaced by all lines of its value, each with the indentation of the name, or by no
  /// line if the value is empty. The value may end with a line feed.
  public func text(_ values: [String: String]) -> String { filled(text, values) }
}

/// Returns a text that ends with a line feed, with values instead of names.
func filled(_ text: String, _ values: [String: String]) -> String {
  var result = ""
  for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
    let indentation = line.prefix { $0 == " " }
    if let lines = lines(of: line.dropFirst(indentation.count), values) {
      for line in lines { result += (line.isEmpty ? "" : indentation) + line + "\n" }
    } else {
      result += filled(line, values) + "\n"
    }
  }
  return result
}

/// Returns the lines of the value if the text consists of a name only, or `nil` for any other text.
private func lines(of text: Substring, _ values: [String: String]) -> [Substring]? {
  guard text.hasPrefix("{{"), text.hasSuffix("}}"), let value = values[String(text.dropFirst(2).dropLast(2))]
  else { return nil }
  if value.isEmpty { return [] }
  let lines = value.split(separator: "\n", omittingEmptySubsequences: false)
  return value.hasSuffix("\n") ? lines.dropLast() : lines
}

/// Returns a line with values instead of names; unknown names in braces stay.
private func filled(_ line: Substring, _ values: [String: String]) -> String {
  var (result, rest) = ("", line)
  while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
    let value = values[String(rest[open.upperBound..<close.lowerBound])]
    result += rest[..<open.lowerBound] + (value ?? String(rest[open.lowerBound..<close.upperBound]))
    rest = rest[close.upperBound...]
  }
  return result + rest
}
