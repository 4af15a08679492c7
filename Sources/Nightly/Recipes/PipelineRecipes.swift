import Files
import Reporting
import Harness

/// Recipes for CI systems that read a file of the repository.
extension Recipe {
  private static let image = "swift:6.3-bookworm"

  /// Remarks for the reader of the file, on the host that it needs.
  private var remarks: [String] {
    if builds {
      return [
        "It is for a checkout of Lockstep itself, which it builds. In your own project, give the path of lockstep with --command."
      ]
    }
    guard kind == .gitlab else { return [] }
    return [
      "Its runner must have lockstep and what your locks need: use your own machine, or add an 'image:' that has them."
    ]
  }

  /// `.gitlab-ci.yml`.
  ///
  /// GitLab shows the JUnit report of the job that merges the shards. A lab fault makes the job a warning.
  var gitlab: String {
    let merges = shards > 1
    let stages = (command == nil ? ["build"] : []) + ["test"] + (merges ? ["report"] : [])
    return EmbeddedFile.recipeGitLab.text([
      "origin": origin, "remarks": remarks.map { "# \($0)\n" }.joined(), "name": name,
      "minutes": "\(minutes)",
      "stages": stages.joined(separator: ", "),
      "build": command == nil ? EmbeddedFile.recipeGitLabBuild.text(["image": Self.image]) : "",
      "machine": gitlabMachine, "parallel": merges ? "parallel: \(shards)" : "",
      "resource": isBench ? "# One job at a time drives the lock.\nresource_group: \(name)" : "",
      "run": runLine(out: merges ? "\(out)/shard-$CI_NODE_INDEX" : out),
      "outcome": gitlabOutcome(publishes: !merges), "report": merges ? gitlabReport : "",
    ])
  }

  private var gitlabReport: String {
    EmbeddedFile.recipeGitLabReport.text([
      "name": name, "machine": gitlabMachine, "needs": (command == nil ? "build, " : "") + name,
      "run": reportLine("\(out)/shard-*/runs/*", out: out), "outcome": gitlabOutcome(publishes: true),
    ])
  }

  private var gitlabMachine: String {
    command == nil ? "image: \(Self.image)\nbefore_script:\n  - .ci/dependencies" : ""
  }

  private func gitlabOutcome(publishes: Bool) -> String {
    let cache = """
      # The results of earlier runs.
      cache:
        key: \(name)-history
        paths: [\(out)/history.sqlite]
        when: always
      """
    return EmbeddedFile.recipeGitLabOutcome.text([
      "cache": publishes && keepsHistory ? cache : "", "out": out,
      "exposed": publishes ? "expose_as: \(name.replacing(".", with: "-")) reports" : "",
      "reports": publishes ? "reports:\n  junit: \(out)/junit.xml" : "",
    ])
  }

  /// `.github/workflows/lockstep.yml`.
  var github: String {
    let merges = shards > 1
    let shard = merges ? "${{ matrix.shard }}" : "1"
    let run = runLine(
      shard: merges ? "$SHARD/\(shards)" : nil, out: merges ? "\(out)/shard-$SHARD" : out, telling: .github)
    let concurrency = """
      # One run at a time drives the lock, and none is cut off in the middle.
      concurrency:
        group: \(name)
        cancel-in-progress: false
      """
    let matrix = """
      strategy:
        fail-fast: false
        matrix:
          shard: [\((1...shards).map(String.init).joined(separator: ", "))]
      """
    return EmbeddedFile.recipeGitHub.text(
      [
        "origin": origin, "remarks": remarks.map { "# \($0)\n" }.joined(), "cron": cron,
        "concurrency": isBench ? concurrency : "", "minutes": "\(minutes)", "matrix": merges ? matrix : "",
        "history": merges ? "" : githubHistory, "environment": merges ? "env:\n  SHARD: \(shard)" : "",
        "run": githubOutcome(Self.literal(run)), "artifact": merges ? "shard-\(shard)" : name,
        "folder": merges ? "\(out)/shard-\(shard)" : out, "report": merges ? githubReport : "",
        "publishing": githubHistoryKept + githubPublishing,
      ].merging(githubMachine) { $1 })
  }

  private var githubReport: String {
    let line = reportLine("\(out)/shard-*/runs/*", out: out, telling: .github)
    return EmbeddedFile.recipeGitHubReport.text(
      ["out": out, "history": githubHistory, "run": githubOutcome(Self.literal(line))].merging(githubMachine)
      { $1 })
  }

  /// The values that both jobs share: name, host, container and build step.
  private var githubMachine: [String: String] {
    [
      "name": name, "machine": isBench || command != nil ? "[self-hosted, linux]" : "ubuntu-24.04",
      "container": command == nil && !isBench ? "container: \(Self.image)" : "",
      "build": command == nil ? "- name: Build\n  run: make build" : "",
    ]
  }

  /// The step that restores the history: GitHub never changes a cache, so each run stores its own and reads
  /// the latest.
  private var githubHistory: String {
    guard keepsHistory else { return "" }
    return """
      - uses: actions/cache/restore@v4
        with:
          \(githubHistoryPlace)
          restore-keys: \(name)-history-

      """
  }

  /// The step that stores the history, even after a failure: by default GitHub stores it only after success.
  private var githubHistoryKept: String {
    guard keepsHistory else { return "" }
    return """
      - uses: actions/cache/save@v4
        if: always()
        with:
          \(githubHistoryPlace)

      """
  }

  /// A repeated job is another attempt of the same run.
  private var githubHistoryPlace: String {
    "path: \(out)/history.sqlite\n"
      + "    key: \(name)-history-${{ github.run_id }}-${{ github.run_attempt }}"
  }

  private var githubPublishing: String {
    """
    - uses: mikepenz/action-junit-report@v5
      if: always()
      with:
        report_paths: \(out)/junit.xml
        require_tests: true

    """
  }

  /// GitHub has only success and failure: a lab fault succeeds with a visible warning.
  private func githubOutcome(_ line: String) -> String {
    """
    status=0
    \(line) || status=$?
    if [ "$status" = 3 ]; then
      echo "::warning title=Trouble in the lab::It says nothing of the lock; see the report."
      status=0
    fi
    exit "$status"
    """
  }

  /// Text that GitHub must not interpret as an expression.
  private static func literal(_ text: String) -> String { text.replacing("${{", with: "${{ '${{' }}") }

  /// `Jenkinsfile`, declarative.
  var jenkins: String {
    let merges = shards > 1
    let runs = (1...shards).map { shard in
      let run = runLine(
        shard: merges ? "\(shard)/\(shards)" : nil, out: merges ? "\(out)/shard-\(shard)" : out)
      return jenkinsStage(merges ? "Shard \(shard)" : "All", run)
    }
    return EmbeddedFile.recipeJenkins.text([
      "origin": origin.replacing("\\", with: "\\\\"), "remarks": remarks.map { "// \($0)\n" }.joined(),
      "minutes": "\(minutes)", "cron": cron, "out": out,
      "build": command == nil ? "stage('Build') { steps { sh 'make build' } }" : "",
      "all": merges ? "parallel" : "stages", "runs": runs.joined(separator: "\n"),
      "report": merges ? jenkinsStage("Report", reportLine("\(out)/shard-*/runs/*", out: out)) : "",
    ])
  }

  /// A stage that runs a line of the shell.
  private func jenkinsStage(_ name: String, _ line: String) -> String {
    """
    stage('\(name)') {
      steps {
        script { judge(sh(returnStatus: true, script: \(Self.groovy(line)))) }
      }
    }
    """
  }

  /// A string of Groovy without interpolation.
  private static func groovy(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
