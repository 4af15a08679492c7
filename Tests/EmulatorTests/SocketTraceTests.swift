import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

@Suite("Traces of the socket, beside its model")
struct SocketTraceTests {
  private func socket(
    _ steps: String, settings: [Argument] = [], defect: SocketApp.Defect? = nil
  ) throws -> Playback {
    try play(steps, on: SocketDevice(defect: defect), against: .socket, settings: settings)
  }

  @Test("the way to a subscription, what is sent and received, and the close: the whole trace")
  func happyPath() throws {
    let playback = try socket(
      "open, wait 20 ms, powerOn, serviceAdded, advertisingStarted, wait 1 s, subscribe, write, send, close",
      settings: [Argument("reported", .flag(false))])
    expect(playback.divergence, nil)
    expect(
      playback.trace,
      [
        "0.000 s > open",
        "0.000 s   Opening",
        "0.020 s > powerOn",
        "0.020 s   AddingService",
        "0.020 s   addService",
        "0.020 s > serviceAdded",
        "0.020 s   StartingAdvertising",
        "0.020 s   startAdvertising",
        "0.020 s > advertisingStarted",
        "0.020 s   WaitingForSubscription",
        "1.020 s > subscribe",
        "1.020 s   Opened",
        "1.020 s   didOpen",
        "1.020 s   Connected",
        "1.020 s > write",
        "1.020 s   didReceive",
        "1.020 s > send",
        "1.020 s   updateValue",
        "1.020 s   didSend",
        "1.020 s > close",
        "1.020 s   Idle",
        "1.020 s   stopAdvertising",
        "1.020 s   removeAllServices",
      ])
  }

  @Test("after three seconds of one wait, and not a nanosecond earlier, everything is built up again")
  func retry() throws {
    let playback = try socket(
      """
      open, serviceAdded, wait 1 s, advertisingStarted, wait 2.999999999 s, wait 1 ns,
      serviceAdded, wait 2 s, advertisingStarted, wait 4 s
      """)
    expect(playback.divergence, nil)
    expect(
      playback.trace.suffix(15),
      [
        "1.000 s > advertisingStarted",
        "1.000 s   WaitingForSubscription",
        "4.000 s   removeService",
        "4.000 s   stopAdvertising",
        "4.000 s   AddingService",
        "4.000 s   addService",
        "4.000 s > serviceAdded",
        "4.000 s   StartingAdvertising",
        "4.000 s   startAdvertising",
        "6.000 s > advertisingStarted",
        "6.000 s   WaitingForSubscription",
        "9.000 s   removeService",
        "9.000 s   stopAdvertising",
        "9.000 s   AddingService",
        "9.000 s   addService",
      ])
  }

  @Test(
    "a stimulus that comes at the very end of the wait finds the service being added again",
    arguments: [("subscribe", "Connected"), ("advertisingStarted", "AddingService")])
  func atTheEnd(stimulus: String, status: String) throws {
    let playback = try socket("open, serviceAdded, advertisingStarted, wait 3 s, \(stimulus), wait 10 s")
    expect(playback.divergence, nil)
    let statuses = ["AddingService", "Connected", "WaitingForSubscription"]
    expect(playback.trace.last { line in statuses.contains { line.hasSuffix($0) } }, "3.000 s   \(status)")
  }

  @Test("sending in vain does not lengthen the wait")
  func sendInVain() throws {
    let playback = try socket(
      "open, serviceAdded, advertisingStarted, wait 1 s, send, wait 1 s, send, wait 9 s")
    expect(playback.divergence, nil)
    expect(
      playback.trace.suffix(8),
      [
        "1.000 s > send",
        "1.000 s   didFailToSend(notConnected)",
        "2.000 s > send",
        "2.000 s   didFailToSend(notConnected)",
        "3.000 s   removeService",
        "3.000 s   stopAdvertising",
        "3.000 s   AddingService",
        "3.000 s   addService",
      ])
  }

  @Test("a value waits for the transmit queue, and is gone with its connection")
  func queue() throws {
    let playback = try socket(
      """
      open, serviceAdded, subscribe, fault queue-full, send, readyToUpdate, send, fault queue-full off,
      wait 1 s, readyToUpdate, readyToUpdate, fault queue-full, send, unsubscribe, fault queue-full off,
      open, subscribe, readyToUpdate, send
      """)
    expect(playback.divergence, nil)
    expect(
      playback.trace.suffix(34),
      [
        "0.000 s > queue-full yes",
        "0.000 s > send",
        "0.000 s   updateValue",
        "0.000 s > readyToUpdate",
        "0.000 s   updateValue",
        "0.000 s > send",
        "0.000 s   refused: another value waits to be sent",
        "0.000 s > queue-full no",
        "1.000 s > readyToUpdate",
        "1.000 s   updateValue",
        "1.000 s   didSend",
        "1.000 s > readyToUpdate",
        "1.000 s > queue-full yes",
        "1.000 s > send",
        "1.000 s   updateValue",
        "1.000 s > unsubscribe",
        "1.000 s   Failed",
        "1.000 s   didFail(lostConnection)",
        "1.000 s   Idle",
        "1.000 s   stopAdvertising",
        "1.000 s   removeAllServices",
        "1.000 s > queue-full no",
        "1.000 s > open",
        "1.000 s   Opening",
        "1.000 s   AddingService",
        "1.000 s   addService",
        "1.000 s > subscribe",
        "1.000 s   Opened",
        "1.000 s   didOpen",
        "1.000 s   Connected",
        "1.000 s > readyToUpdate",
        "1.000 s > send",
        "1.000 s   updateValue",
        "1.000 s   didSend",
      ])
  }

  @Test("a stale timer is found in the later wait, three seconds after the earlier one began")
  func staleTimer() throws {
    let steps = """
      open, serviceAdded, advertisingStarted, wait 1 s,
      close, open, serviceAdded, advertisingStarted, wait 3 s
      """
    expect(try socket(steps).divergence, nil)
    let divergence = try #require(try socket(steps, defect: .staleTimer).divergence)
    expect(divergence.kind, .unexpected("removeService"))
    expect(divergence.time, .zero + .seconds(3))
    expect(divergence.step, 9)
    expect(divergence.lastStatus, "WaitingForSubscription")
    expect(
      divergence.allowed,
      [.init(state: "WaitingForSubscription", cause: "after 3 s", shows: "removeService", isDue: true)])
  }

  @Test("a connection that another central can end is found when it does")
  func foreignUnsubscription() throws {
    let steps = "open, serviceAdded, wait 2 s, subscribe, otherUnsubscribe"
    expect(try socket(steps).divergence, nil)
    let divergence = try #require(try socket(steps, defect: .foreignUnsubscription).divergence)
    expect(divergence.kind, .unexpected("Failed"))
    expect(divergence.time, .zero + .seconds(2))
    expect(divergence.step, 5)
    expect(divergence.allowed, [.init(state: "Connected", cause: "", shows: "Connected")])
  }
}
