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
        "locks publish their token more than once in a connection, and clients ignore a token that they "
        + "already have"
    ),
    KnownQuirk(
      violation: .unknownPublish,
      reason:
        "firmware publishes items that are newer than its documentation, such as battery voltages; "
        + "clients ignore them"
    ),
    KnownQuirk(
      violation: .undefinedFlag, generation: .os3,
      reason: "newer firmware may use a flag that its documentation does not define yet"),
    KnownQuirk(
      violation: .beforeToken, subject: ProtocolViolation.encrypted,
      reason:
        "a Sesame 4 was seen to send an encrypted notification before the token: it is left over from "
        + "the previous connection, which is possible in both generations"
    ),
    KnownQuirk(
      violation: .unexpectedFrame, subject: ProtocolViolation.beforeTheToken,
      reason:
        "the end of a message may be left over from the previous connection: one such frame before the "
        + "token harms no client, because clients start to collect frames with the token"
    ),
    KnownQuirk(
      violation: .noAnswer, subject: ProtocolViolation.afterRegistration, generation: .os2,
      reason:
        "only OS3 is known to have a login on the connection of a registration; in OS2 the session of "
        + "the registration continues"
    ),
    KnownQuirk(
      violation: .notAuthentic, subject: ProtocolViolation.beforeKey, generation: .os3,
      reason:
        "a lock publishes as soon as it has accepted a registration, before its client can have the key"),
  ]
}

extension KnownQuirk {
  /// Why locks of a generation, or the one whose own habits these are, are not blamed for something; `nil` where they are.
  static func reason(
    for violation: ProtocolViolation, of generation: Generation?, own: [SesameViolation]
  ) -> String? {
    if own.contains(violation.rule) { return "the lock file lists it under `quirks`" }
    let known = all.first { quirk in
      quirk.violation == violation.rule && (quirk.subject == nil || quirk.subject == violation.subject)
        && (quirk.generation == nil || quirk.generation == generation)
    }
    return known?.reason
  }
}
