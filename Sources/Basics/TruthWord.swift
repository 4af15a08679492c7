/// What a word says that YAML takes for true or false, as any of its readers may: `true`, `yes` and `on`, `false`, `no` and
/// `off`, in small letters, in capitals or with one; `nil` for any other.
public func truth(ofWord word: String) -> Bool? {
  switch word {
  case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": true
  case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": false
  default: nil
  }
}
