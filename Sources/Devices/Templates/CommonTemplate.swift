extension Template {
  /// What every project has, with `DEVICE` where its device goes.
  static let commonFiles: [File] = [
    File(
      ".github/workflows/lockstep.yml",
      #"""
      # The scenarios and a minute of fuzzing for each change; JUnit reports are kept whatever comes of it.
      name: lockstep
      on: [push, pull_request]
      jobs:
        test:
          runs-on: ubuntu-latest
          steps:
            - uses: actions/checkout@v4
            # Put the command on the path here: a release of yours, or a build from its sources.
            - run: lockstep run scenarios --out Reports/run
            - run: lockstep fuzz NAME.yaml --device 'DEVICE' --duration 1min --out Reports/fuzz
            - uses: actions/upload-artifact@v4
              if: always()
              with: { name: reports, path: Reports }

      """#),
    File(
      "nightly.yaml",
      #"""
      # What a night does with each lock of the bench.
      nightly: NAME
      bench: bench.yaml
      duration: 10 min
      suites:
        - { name: scenarios, scenarios: scenarios, repeat: 2 }

      """#),
  ]
}
