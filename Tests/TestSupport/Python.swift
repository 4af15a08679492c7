import Foundation

/// Runs a Python script on words, and gives its status with all that it printed; 127 where there is no Python.
public func python(_ script: String, _ words: [String] = []) -> (status: Int32, output: String) {
  do {
    let result = try Program.run("/usr/bin/env", ["python3", "-c", script] + words)
    return (result.status, String(decoding: result.output + result.errors, as: UTF8.self))
  } catch {
    return (127, "\(error)")
  }
}

/// Whether Python's programs that read YAML and check documents against schemas are here.
public let hasSchemaValidator = python("import jsonschema, yaml").status == 0

/// Checks YAML files against a JSON Schema (draft-07), and says of each whether it is valid: `name valid`, or what is wrong.
public func validate(_ files: [String], against schema: String) -> [String] {
  let script = """
    import json, sys, yaml, jsonschema
    schema = json.load(open(sys.argv[1]))
    jsonschema.Draft7Validator.check_schema(schema)
    for path in sys.argv[2:]:
        errors = list(jsonschema.Draft7Validator(schema).iter_errors(yaml.safe_load(open(path))))
        print(path.split("/")[-1], "valid" if not errors else "wrong: " + errors[0].message[:80])
    """
  return python(script, [schema] + files).output.split(separator: "\n").map(String.init)
}
