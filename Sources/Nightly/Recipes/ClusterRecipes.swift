import Files
import Basics

/// The recipe for a cluster that runs containers.
extension Recipe {
  /// The folder of all jobs' reports, in the containers.
  private static let reports = "/reports"

  /// A manifest of two jobs: one that runs a pod for each shard, and a suspended one that merges the results.
  ///
  /// A failed part is not restarted, but an evicted or killed one is: one attempt at each part counts.
  var kubernetes: String {
    let run = ["run", "--out=\(Self.reports)/jobs/$(LOCKSTEP_JOB)/shard-$(LOCKSTEP_INDEX)"]
    let words = [program(in: .container)] + run + (plan(.shard) + selection).map(Self.literalWord)
    return EmbeddedFile.recipeKubernetes.text([
      "origin": origin, "name": name, "claim": claim, "shards": "\(shards)", "reports": Self.reports,
      "image": Self.quoted(arguments.image ?? ""), "waitSeconds": "\(seconds + 600)",
      "deadline": "\(seconds + 300)",
      "words": words.map { "- " + Self.quoted($0) }.joined(separator: "\n"),
      "workingFolder": arguments.folder.map { "workingDir: " + Self.quoted($0) } ?? "", "password": password,
      "reportLine": reportLine("\"$job\"shard-*/runs/*", out: ".", in: .container),
      "environment": password.isEmpty ? "" : "env:",
    ])
  }

  /// The password of the history, from a secret of the cluster.
  private var password: String {
    guard hasServer else { return "" }
    return """
      - name: PGPASSWORD
        valueFrom:
          secretKeyRef:
            name: \(name)-history
            key: password
            optional: true
      """
  }

  /// A text in double quotes, also for YAML.
  private static func quoted(_ text: String) -> String { JSON.text(text).line }

  /// A word without substitutions by Kubernetes.
  private static func literalWord(_ word: String) -> String { word.replacing("$(", with: "$$(") }
}
