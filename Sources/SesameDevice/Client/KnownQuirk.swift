public import Sesame

/// What real locks are known to do though their protocol forbids it.
public struct KnownQuirk: Sendable {
  /// What they do.
  public var violation: SesameViolation
  /// With what of the protocol, as ``Sesame/ProtocolViolation/subject`` has it; `nil` for anything.
  public var subject: String?
  /// Which generation does it; `nil` for both.
  public var generation: Generation?
  /// Why they are not blamed for it.
  public var reason: String

  /// All of them. A lock's own stand in its file, under `quirks`.
  public static let all: [KnownQuirk] = [
    KnownQuirk(
      violation: .tokenAgain,
      reason:
        "locks publish their token more than once in a connection, and clients pass over what they know already"
    ),
    KnownQuirk(
      violation: .unknownPublish,
      reason:
        "firmware publishes items that are younger than its documents, such as battery voltages; clients pass over them"
    ),
    KnownQuirk(
      violation: .undefinedFlag, generation: .os3,
      reason: "firmware may give a flag a meaning that its documents do not have yet"),
    KnownQuirk(
      violation: .beforeToken, subject: ProtocolViolation.encrypted,
      reason:
        "an encrypted notification before the token was seen of a Sesame 4: it is left over from the connection before, which both generations can have"
    ),
    KnownQuirk(
      violation: .unexpectedFrame, subject: ProtocolViolation.beforeTheToken,
      reason:
        "the end of a message may be left over from the connection before: one frame of it before the token harms no client, which begins to gather with the token"
    ),
    KnownQuirk(
      violation: .noAnswer, subject: ProtocolViolation.afterRegistration, generation: .os2,
      reason:
        "a login on the connection of a registration is known of OS3 alone: in OS2 the session of the registration goes on"
    ),
    KnownQuirk(
      violation: .notAuthentic, subject: ProtocolViolation.beforeKey, generation: .os3,
      reason:
        "a lock publishes as soon as it has taken a registration, before its client can have the key"),
  ]
}

extension KnownQuirk {
  /// Why locks of a generation, or the one whose own habits these are, are not blamed for something; `nil` where they are.
  static func reason(
    for violation: ProtocolViolation, of generation: Generation?, own: [SesameViolation]
  ) -> String? {
    if own.contains(violation.rule) { return "the lock's file has it among its quirks" }
    let known = all.first { quirk in
      quirk.violation == violation.rule && (quirk.subject == nil || quirk.subject == violation.subject)
        && (quirk.generation == nil || quirk.generation == generation)
    }
    return known?.reason
  }
}
