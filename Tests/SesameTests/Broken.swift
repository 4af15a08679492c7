import Sesame

/// A broken rule by its name, as the tables of tests have it.
func broken(
  _ rule: String, of subject: String? = nil, _ detail: String, packet: [UInt8]? = nil,
  from sender: SessionEnd = .lock
) -> ProtocolViolation {
  guard let rule = SesameViolation(rawValue: rule) else { preconditionFailure("there is no rule \(rule)") }
  return ProtocolViolation(rule, of: subject, detail, packet: packet, from: sender)
}
