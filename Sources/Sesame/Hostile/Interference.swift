/// A fault of the messages between a client and its lock, whatever carries them.
///
/// | fault | value | what a correct lock, or client, makes of it |
/// |---|---|---|
/// | `forge` | ``Forgery/name`` | the lock passes it over |
/// | `replay` | a ``Replay`` | the lock passes it over |
/// | `request` | one of ``UndefinedRequest`` | the lock refuses it or passes it over |
/// | `shadow` | one of ``MessageFlaw``: the next message is accompanied by itself with the flaw | the lock passes the other over |
/// | `mutate` | one of ``MessageFlaw``: the next message has the flaw | it is lost |
/// | `reflect` | `yes`: the lock's last message goes back to it | in OS3 the session may be lost |
/// | `spoof` | one of ``Spoof`` | the client passes it over |
public enum Interference: Equatable, Sendable {
  case forge(Forgery)
  case replay(Replay)
  case request(UndefinedRequest)
  case shadow(MessageFlaw)
  case mutate(MessageFlaw)
  case reflect
  case spoof(Spoof)
  /// A fault that is cancelled.
  case nothing
}
