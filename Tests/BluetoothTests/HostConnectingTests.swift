import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("A host that connects")
struct HostConnectingTests {
  private static let create = HCICommand.leCreateConnection(ConnectionRequest(peer: HostFixture.peer))
  private static let cancel = HCICommand.leCreateConnectionCancel()
  private static let connection = HostFixture.connection(.central)
  private static let up = HCIEvent.leConnectionComplete(connection)
  private static let cancelled = HCIEvent.leConnectionComplete(
    HostFixture.connection(.central, HostFixture.handle, .unknownConnection))
  private static let refused = HCIEvent.leConnectionComplete(
    HostFixture.connection(.central, HostFixture.handle, .failedToEstablish))
  private static let disconnect = HCICommand.disconnect(HostFixture.handle, .remoteUserTerminated)

  private static func start(_ host: inout BluetoothHost, at now: Instant = .zero) -> [HostAction] {
    host.connect(to: HostFixture.peer, ConnectionParameters(), timeout: .seconds(5), at: now)
  }

  /// What happens to a host while it connects.
  enum Step {
    case event(HCIEvent)
    /// The command is accepted, or refused.
    case accepted
    case refused(HCIErrorCode)
    /// The cancellation is answered.
    case cancelAnswered(HCIErrorCode)
    case userCancels
    case userConnects
    case secondsPass(Int64)
  }

  struct Course: CustomTestStringConvertible {
    var testDescription: String
    var steps: [(Step, [HostAction])]
  }

  private static let connected: HostAction = .report(.connected(HostFixture.link, connection))
  private static let given: HostAction = .report(.connectionFailed(.cancelledByHost))
  private static let timedOut: HostAction = .report(.connectionFailed(.failedToEstablish))
  private static let sendsCancel: HostAction = .transmit(cancel.packet)

  private static func odd(_ status: String) -> HostAction {
    .report(.protocolViolation(nil, "an attempt to connect that failed, \(status), and is not under way"))
  }

  static let courses: [Course] = [
    Course(
      testDescription: "connected",
      steps: [(.accepted, []), (.event(up), [connected]), (.secondsPass(9), [])]),
    Course(
      testDescription: "refused at once",
      steps: [(.refused(.commandDisallowed), [.report(.connectionFailed(.commandDisallowed))])]),
    Course(
      testDescription: "failed later",
      steps: [(.accepted, []), (.event(refused), [.report(.connectionFailed(.failedToEstablish))])]),
    Course(
      testDescription: "the link comes up before the command is accepted",
      steps: [(.event(up), [connected]), (.accepted, []), (.userConnects, [.transmit(create.packet)])]),
    Course(
      testDescription: "the next attempt waits for the answer that was overtaken",
      steps: [(.event(up), [connected]), (.userConnects, []), (.accepted, [.transmit(create.packet)])]),
    Course(
      testDescription: "it fails before the command is accepted",
      steps: [(.event(refused), [timedOut]), (.accepted, []), (.userConnects, [.transmit(create.packet)])]),
    Course(
      testDescription: "time is up",
      steps: [
        (.accepted, []), (.secondsPass(4), []), (.secondsPass(1), [sendsCancel]),
        (.cancelAnswered(.success), []), (.event(cancelled), [timedOut]), (.secondsPass(9), []),
      ]),
    Course(
      testDescription: "the user cancels",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.userCancels, []), (.cancelAnswered(.success), []),
        (.event(cancelled), [given]), (.userCancels, []),
      ]),
    Course(
      testDescription: "the cancelled attempt ends before the cancellation is answered",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.event(cancelled), [given]),
        (.cancelAnswered(.success), []), (.userConnects, [.transmit(create.packet)]),
      ]),
    Course(
      testDescription: "the user cancels before the command is accepted",
      steps: [
        (.userCancels, []), (.accepted, [sendsCancel]), (.cancelAnswered(.success), []),
        (.event(cancelled), [given]),
      ]),
    Course(
      testDescription: "the user cancels what is refused then",
      steps: [(.userCancels, []), (.refused(.commandDisallowed), [given])]),
    Course(
      testDescription: "the link comes up while the user cancels, and is ended unseen",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.event(up), [given]),
        (.cancelAnswered(.commandDisallowed), [.transmit(disconnect.packet)]),
      ]),
    Course(
      testDescription: "the cancellation comes too late, and the link that came up is ended unseen",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.cancelAnswered(.commandDisallowed), []),
        (.event(up), [given, .transmit(disconnect.packet)]),
      ]),
    Course(
      testDescription: "the user cancels and the link comes up, both before the command is accepted",
      steps: [
        (.userCancels, []), (.event(up), [given]), (.accepted, [.transmit(disconnect.packet)]),
      ]),
    Course(
      testDescription: "the link comes up when time was up, and is kept",
      steps: [
        (.accepted, []), (.secondsPass(5), [sendsCancel]), (.cancelAnswered(.commandDisallowed), []),
        (.event(up), [connected]), (.secondsPass(9), []),
      ]),
    Course(
      testDescription: "a controller that never says that the cancelled attempt is over",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.cancelAnswered(.success), []),
        (.secondsPass(2), [given]), (.event(cancelled), [odd("0x02 (unknown connection)")]),
      ]),
    Course(
      testDescription: "the end of an attempt that is no longer waited for does not end the next",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.cancelAnswered(.success), []),
        (.secondsPass(2), [given]), (.userConnects, [.transmit(create.packet)]), (.accepted, []),
        (.event(cancelled), [odd("0x02 (unknown connection)")]), (.event(up), [connected]),
      ]),
    Course(
      testDescription: "an attempt that begins while the one before is given up waits for its end",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.userConnects, []), (.cancelAnswered(.success), []),
        (.event(cancelled), [given, .transmit(create.packet)]), (.accepted, []), (.event(up), [connected]),
      ]),
    Course(
      testDescription: "an attempt that waits can be cancelled too",
      steps: [
        (.accepted, []), (.userCancels, [sendsCancel]), (.userConnects, []), (.userCancels, [given]),
        (.cancelAnswered(.success), []), (.event(cancelled), [given]),
      ]),
    Course(
      testDescription: "a link that nobody asked for is ended unseen",
      steps: [
        (.refused(.commandDisallowed), [.report(.connectionFailed(.commandDisallowed))]),
        (
          .event(up),
          [
            .report(.protocolViolation(nil, "a link to \(HostFixture.peer), that this host did not request")),
            .transmit(disconnect.packet),
          ]
        ),
      ]),
  ]

  @Test("every course that an attempt can take", arguments: courses)
  func course(_ course: Course) {
    var host = HostFixture.ready()
    var now = Instant.zero
    expect(Self.start(&host), [.transmit(Self.create.packet)])
    for (step, expected) in course.steps {
      switch step {
      case .event(let event): expect(host.receive(event.packet, at: now), expected)
      case .accepted: expect(host.receive(Exchange.status(Self.create).answer.packet, at: now), expected)
      case .refused(let status):
        expect(host.receive(Exchange.status(Self.create, status).answer.packet, at: now), expected)
      case .cancelAnswered(let status):
        expect(host.receive(Exchange.refused(Self.cancel, status).answer.packet, at: now), expected)
      case .userCancels: expect(host.cancelConnecting(at: now), expected)
      case .userConnects: expect(Self.start(&host, at: now), expected)
      case .secondsPass(let seconds):
        now = now + .seconds(seconds)
        expect(host.advance(to: now), expected)
      }
    }
  }

  @Test("a link that was ended unseen is never heard of, and its number is not used again")
  func unseen() {
    var host = HostFixture.ready()
    _ = Self.start(&host)
    _ = host.receive(Exchange.status(Self.create).answer.packet, at: .zero)
    _ = host.cancelConnecting(at: .zero)
    _ = host.receive(Exchange.refused(Self.cancel, .commandDisallowed).answer.packet, at: .zero)
    _ = host.receive(Self.up.packet, at: .zero)
    let notification = frame(.att, ATTPacket.notification(AttributeHandle(rawValue: 3), [1]))
    expect(host.receive(arriving(notification), at: .zero), [])
    expect(host.receive(Exchange.status(Self.disconnect).answer.packet, at: .zero), [])
    let over = HCIEvent.disconnectionComplete(
      status: .success, HostFixture.handle, reason: .localHostTerminated)
    expect(host.receive(over.packet, at: .zero), [])
    _ = Self.start(&host)
    _ = host.receive(Exchange.status(Self.create).answer.packet, at: .zero)
    expect(
      host.receive(Self.up.packet, at: .zero),
      [.report(.connected(LinkID(rawValue: 2), Self.connection))])
  }

  @Test("an attempt whose time is up before it could begin is given up as soon as it has")
  func lateBeginning() {
    var host = HostFixture.ready()
    _ = Self.start(&host)
    _ = host.receive(Exchange.status(Self.create).answer.packet, at: .zero)
    _ = host.cancelConnecting(at: .zero)
    expect(
      host.connect(to: HostFixture.peer, ConnectionParameters(), timeout: .seconds(1), at: .zero), [])
    _ = host.receive(Exchange.refused(Self.cancel, .success).answer.packet, at: .zero)
    let late = Instant.zero + .seconds(2)
    expect(host.advance(to: late), [Self.given, .transmit(Self.create.packet)])
    expect(host.deadline, .zero + .seconds(4))
    expect(
      host.receive(Exchange.status(Self.create).answer.packet, at: late), [.transmit(Self.cancel.packet)])
    _ = host.receive(Exchange.refused(Self.cancel, .success).answer.packet, at: late)
    expect(host.receive(Self.cancelled.packet, at: late), [Self.timedOut])
  }

  @Test("a second attempt at once, or parameters that do not fit, are our own fault")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      var host = HostFixture.ready()
      _ = Self.start(&host)
      _ = Self.start(&host)
    }
    await #expect(processExitsWith: .failure) {
      var host = HostFixture.ready()
      _ = host.connect(
        to: HostFixture.peer, ConnectionParameters(minimumInterval: 9), timeout: .seconds(1), at: .zero)
    }
  }
}
