import Basics

/// The recipe for a cluster that runs containers.
extension Recipe {
  /// Where the reports of all jobs are, in the containers.
  private static let reports = "/reports"

  /// A manifest of two jobs: one that runs a pod for each shard, and one that waits to be told to merge what they left.
  ///
  /// A part that fails is not run again, one that was evicted or killed is: of all goes at a part one counts.
  var kubernetes: String {
    let run = ["run", "--out=\(Self.reports)/jobs/$(LOCKSTEP_JOB)/shard-$(LOCKSTEP_INDEX)"]
    let words = [program(in: .container)] + run + (plan(.shard) + selection).map(Self.literalWord)
    return """
      # Made by: \(origin)
      # kubectl apply --filename=\(name).yaml
      # kubectl wait --for=condition=Complete --timeout=\(seconds + 600)s job/\(name)       it fails where a part did
      # kubectl patch job/\(name)-report --patch='{"spec":{"suspend":false}}'               merges the parts
      # kubectl wait --for=condition=Complete --timeout=30m job/\(name)-report
      # kubectl delete --filename=\(name).yaml                                   reports stay, in the claim \(claim)
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: \(name)
      spec:
        completionMode: Indexed
        completions: \(shards)
        parallelism: \(shards)
        # What was killed or lost its node is started again, each part by itself.
        backoffLimitPerIndex: 3
        maxFailedIndexes: \(shards)
        podReplacementPolicy: Failed
        podFailurePolicy:
          rules:
            - action: Ignore
              onPodConditions:
                - type: DisruptionTarget
                  status: "True"
            # A divergence (1), trouble of the lab (3) and the like are no better the second time.
            - action: FailIndex
              onExitCodes:
                containerName: lockstep
                operator: In
                values: [1, 2, 3, 4, 6]
        template:
          spec:
            restartPolicy: Never
            # It is asked to end first: it finishes its step and writes its report.
            terminationGracePeriodSeconds: 300
            activeDeadlineSeconds: \(seconds + 300)
            containers:
              - name: lockstep
                image: \(Self.quoted(arguments.image ?? ""))
                command:
      \(words.map { "            - \(Self.quoted($0))" }.joined(separator: "\n"))
      \(workingFolder)          env:
                  # Which part of how many, and of which job: two pods for one part are goes at the same.
                  - name: LOCKSTEP_INDEX
                    valueFrom:
                      fieldRef:
                        fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
                  - name: LOCKSTEP_SHARDS
                    value: "\(shards)"
                  - name: LOCKSTEP_JOB
                    valueFrom:
                      fieldRef:
                        fieldPath: metadata.labels['batch.kubernetes.io/controller-uid']
      \(password)          volumeMounts:
                  - name: reports
                    mountPath: \(Self.reports)
            volumes:
              - name: reports
                persistentVolumeClaim:
                  # Many pods write to it: ReadWriteMany.
                  claimName: \(claim)
      ---
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: \(name)-report
      spec:
        suspend: true
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            activeDeadlineSeconds: 1800
            containers:
              - name: lockstep
                image: \(Self.quoted(arguments.image ?? ""))
                # Of the job that was started last.
                command:
                  - /bin/sh
                  - -ec
                  - |
                    cd \(Self.reports)
                    job=$(ls -td jobs/*/ | head -n 1)
      \(Self.indented(reportLine("\"$job\"shard-*/runs/*", out: ".", in: .container), by: 14))
      \(password.isEmpty ? "" : "          env:\n" + password)          volumeMounts:
                  - name: reports
                    mountPath: \(Self.reports)
            volumes:
              - name: reports
                persistentVolumeClaim:
                  claimName: \(claim)

      """
  }

  private var workingFolder: String {
    arguments.folder.map { "          workingDir: \(Self.quoted($0))\n" } ?? ""
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

  /// A text in double quotes, as YAML reads them too.
  private static func quoted(_ text: String) -> String { JSON.text(text).line }

  /// A word in which Kubernetes puts nothing.
  private static func literalWord(_ word: String) -> String { word.replacing("$(", with: "$$(") }
}
