import Foundation

/// Runs a Python script on words, and gives its status with all that it printed; 127 where there is no Python.
public func python(_ script: String, _ words: [String] = []) -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["python3", "-c", script] + words
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  do {
    try process.run()
  } catch {
    return (127, "\(error)")
  }
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: output, as: UTF8.self))
}

/// Whether Python's programs that read YAML and check documents against schemas are here.
public let hasSchemaValidator = python("import jsonschema, yaml").status == 0
