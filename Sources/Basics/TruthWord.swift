/// Returns the boolean that some reader of YAML takes a word for: `true`, `yes` and `on`, or `false`, `no` and `off`,
/// in lower case, upper case or capitalized; `nil` for any other word.
public func truth(ofWord word: String) -> Bool? {
  switch word {
  case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": true
  case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": false
  default: nil
  }
}
