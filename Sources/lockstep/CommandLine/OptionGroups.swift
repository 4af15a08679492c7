import CommandLine

extension OptionGroup {
  /// The option groups in the help of the commands that drive devices, in order. A command shows the groups that
  /// contain one of its options.
  static let usual = [
    OptionGroup(
      "What to run",
      [
        "filter", "last-failed", "failed-first", "repeat", "shard", "seed", "suite", "shown-in",
        "resume", "watch",
      ]),
    OptionGroup("How tests are drawn", ["without", "weight", "length", "twin", "corpus", "shrink-budget"]),
    OptionGroup("Device", ["device", "answer-timeout", "jobs"]),
    OptionGroup(
      "Real lock",
      [
        "bench", "transport", "control", "allow", "actuations", "park", "wait", "check-health",
        "ignore-quarantine",
        "lab", "tags", "lab-wait",
      ]),
    OptionGroup(
      "When to stop, and what fails",
      [
        "steps", "duration", "keep-going", "fail-fast", "max-fail", "retries", "flaky-result",
        "fail-on-skipped",
        "min-cases",
      ]),
    OptionGroup(
      "Reports",
      [
        "out", "save", "junit", "junit-profile", "html", "annotations", "allure", "history", "capture",
      ]),
    OptionGroup(
      "What is printed",
      ["quiet", "verbose", "format", "color", "show-progress", "slow-timeout", "durations"]),
    OptionGroup("Options from a file, and help", ["profile", "config", "no-config", "show-config", "help"]),
  ]
}
