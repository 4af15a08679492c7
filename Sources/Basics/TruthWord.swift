/// Returns the boolean that some reader of YAML takes a word for, or `nil` for any other word.
///
/// The words are `true`, `yes` and `on`, and `false`, `no` and `off`, in lower case, upper case or capitalized.
public func truth(ofWord word: String) -> Bool? {
  switch word {
  case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": true
  case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": false
  default: nil
  }
}
