import Files
import Reporting
import Harness

/// Recipes for CI systems that read a file of the repository.
extension Recipe {
  private static let image = "swift:6.3-bookworm"

  /// What whoever reads the file of a CI system has to know of the machine that it wants.
  private var remarks: [String] {
    if builds {
      return [
        "It is for a checkout of Lockstep itself, which it builds. In a project of your own say with --command where lockstep is."
      ]
    }
    guard kind == .gitlab else { return [] }
    return [
      "Its runner has to have lockstep, and what your locks need: a machine of yours, or add an 'image:' that has them."
    ]
  }

  /// `.gitlab-ci.yml`.
  ///
  /// GitLab shows JUnit of the job that merges the shards. Trouble of the lab makes the job a warning.
  var gitlab: String {
    let merges = shards > 1
    let stages = (command == nil ? ["build"] : []) + ["test"] + (merges ? ["report"] : [])
    var text =
      "# Made by: \(origin)\n\(remarks.map { "# \($0)\n" }.joined())\nstages: [\(stages.joined(separator: ", "))]\n"
    if command == nil {
      text += """

        build:
          stage: build
          image: \(Self.image)
          timeout: 1 hour
          script:
            - make build
          artifacts:
            paths: [.build/release/lockstep]
            expire_in: 1 day

        """
    }
    let folder = merges ? "\(out)/shard-$CI_NODE_INDEX" : out
    text += """

      \(name):
        stage: test
      \(gitlabMachine)  timeout: \(minutes) minutes
      \(merges ? "  parallel: \(shards)\n" : "")\(isBench ? "  # One job at a time drives the lock.\n  resource_group: \(name)\n" : "")  script:
          - |
      \(Self.indented(runLine(out: folder), by: 6))
      \(gitlabOutcome(publishes: !merges))
      """
    if merges {
      text += """

        \(name) report:
          stage: report
        \(gitlabMachine)  needs: [\(command == nil ? "build, " : "")\(name)]
          # Also after a shard that failed, and most of all then.
          when: always
          script:
            - |
        \(Self.indented(reportLine("\(out)/shard-*/runs/*", out: out), by: 6))
        \(gitlabOutcome(publishes: true))
        """
    }
    return text
  }

  private var gitlabMachine: String {
    guard command == nil else { return "" }
    return "  image: \(Self.image)\n  before_script:\n    - .ci/dependencies\n"
  }

  private func gitlabOutcome(publishes: Bool) -> String {
    """
    \(publishes && keepsHistory ? "  # What earlier runs came to.\n  cache:\n    key: \(name)-history\n    paths: [\(out)/history.sqlite]\n    when: always\n" : "")\
      # 3 is trouble of the lab: a warning. A divergence, 1, fails the job.
      allow_failure:
        exit_codes: [3]
      artifacts:
        when: always
        paths: [\(out)/]
    \(publishes ? "    expose_as: \(name.replacing(".", with: "-")) reports\n" : "")\
        expire_in: 4 weeks
    \(publishes ? "    reports:\n      junit: \(out)/junit.xml\n" : "")
    """
  }

  /// `.github/workflows/lockstep.yml`.
  var github: String {
    let merges = shards > 1
    let machine = isBench || command != nil ? "[self-hosted, linux]" : "ubuntu-24.04"
    let container = command == nil && !isBench ? "    container: \(Self.image)\n" : ""
    let build = command == nil ? "      - name: Build\n        run: make build\n" : ""
    let matrix =
      merges
      ? "    strategy:\n      fail-fast: false\n      matrix:\n        shard: [\((1...shards).map(String.init).joined(separator: ", "))]\n"
      : ""
    let shard = merges ? "${{ matrix.shard }}" : "1"
    let folder = merges ? "\(out)/shard-\(shard)" : out
    let run = Self.literal(
      runLine(
        shard: merges ? "$SHARD/\(shards)" : nil, out: merges ? "\(out)/shard-$SHARD" : out,
        telling: .github))
    var text = """
      # Made by: \(origin)
      \(remarks.map { "# \($0)\n" }.joined())
      name: \(name)
      on:
        push:
        pull_request:
        workflow_dispatch:
        schedule:
          # UTC.
          - cron: "\(cron)"
      permissions:
        contents: read
        checks: write
        pull-requests: write
      \(isBench ? "# One run at a time drives the lock, and none is cut off in the middle.\nconcurrency:\n  group: \(name)\n  cancel-in-progress: false\n" : "")
      jobs:
        run:
          runs-on: \(machine)
      \(container)    timeout-minutes: \(minutes)
      \(matrix)    steps:
            - uses: actions/checkout@v4
      \(build)\(merges ? "" : githubHistory)      - name: Run
              shell: bash
      \(merges ? "        env:\n          SHARD: \(shard)\n" : "")        run: |
      \(Self.indented(githubOutcome(run), by: 10))
            - uses: actions/upload-artifact@v4
              if: always()
              with:
                name: \(merges ? "shard-\(shard)" : name)
                path: \(folder)/
                if-no-files-found: error

      """
    if !merges { return text + githubHistoryKept + githubPublishing }
    text += """
        report:
          needs: run
          if: always()
          runs-on: \(machine)
      \(container)    timeout-minutes: 50
          steps:
            - uses: actions/checkout@v4
      \(build)      - uses: actions/download-artifact@v4
              with:
                pattern: shard-*
                path: \(out)
      \(githubHistory)      - name: Report
              shell: bash
              run: |
      \(Self.indented(githubOutcome(Self.literal(reportLine("\(out)/shard-*/runs/*", out: out, telling: .github))), by: 10))
            - uses: actions/upload-artifact@v4
              if: always()
              with:
                name: \(name)
                path: \(out)/

      """
    return text + githubHistoryKept + githubPublishing
  }

  /// What earlier runs came to: GitHub never changes what is cached, so each run keeps its own and takes the latest.
  private var githubHistory: String {
    guard keepsHistory else { return "" }
    return """
            - uses: actions/cache/restore@v4
              with:
      \(githubHistoryPlace)
                restore-keys: \(name)-history-

      """
  }

  /// What this one came to, also where it failed: by itself GitHub keeps what is green.
  private var githubHistoryKept: String {
    guard keepsHistory else { return "" }
    return """
            - uses: actions/cache/save@v4
              if: always()
              with:
      \(githubHistoryPlace)

      """
  }

  /// A job that is done again is another attempt of the same run.
  private var githubHistoryPlace: String {
    """
              path: \(out)/history.sqlite
              key: \(name)-history-${{ github.run_id }}-${{ github.run_attempt }}
    """
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

  /// GitHub knows pass and fail only: trouble of the lab passes with a warning that everybody sees.
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

  /// Text that GitHub is not to take for an expression.
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

  /// A string of Groovy in which nothing is put in.
  private static func groovy(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
