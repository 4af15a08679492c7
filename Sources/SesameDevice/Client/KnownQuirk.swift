public import Sesame

/// A violation of the protocol that real locks are known to commit.
public struct KnownQuirk: Sendable {
  /// The violation.
  public var violation: SesameViolation
  /// The part of the protocol, as in ``Sesame/ProtocolViolation/subject``; `nil` for any.
  public var subject: String?
  /// The generation with this quirk; `nil` for both.
  public var generation: Generation?
  /// Why the violation is tolerated.
  public var reason: String

  /// All quirks of the product. Those of an individual lock are in its lock file, under `quirks`.
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
  /// Returns why a violation is tolerated in locks of a generation, or in the lock with these quirks of its own;
  /// `nil` if it is not.
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
