@testable import Controllers
import Conformance
import Models
import Basics
import TestSupport
import Testing

@testable import Emulator

@Suite("The socket over the air, beside its model and beside the one whose manager the tester plays")
struct AirSocketTests {
  @Test(
    "hosts, controllers and centrals show what a tester who plays them shows",
    arguments: [
      "open, serviceAdded, advertisingStarted, wait 1 s, subscribe, write, send, close",
      "open, serviceAdded, advertisingStarted, wait 2.999 s, wait 1 ms, serviceAdded, wait 2 s, advertisingStarted, wait 4 s",
      "open, serviceAdded, advertisingStarted, wait 1 s, subscribe, unsubscribe, open, serviceAdded, advertisingStarted, subscribe, send",
      "open, serviceFailed, open, serviceAdded, advertisingFailed, open, serviceAdded, advertisingStarted",
      "open, serviceAdded, subscribe, advertisingStarted, write, send",
      "open, serviceAdded, advertisingStarted, wait 3 s, subscribe, serviceAdded, send, write",
      "open, powerOff, open, powerOn, open, serviceAdded, powerOff, powerOn, open, serviceAdded, advertisingStarted, subscribe, powerOff",
      "open, serviceAdded, advertisingStarted, subscribe, otherSubscribe, otherWrite, writeElsewhere, otherUnsubscribe, write, unsubscribe",
      "open, serviceAdded, advertisingStarted, subscribe, fault queue-full, send, wait 1 s, readyToUpdate, write, fault queue-full off, readyToUpdate, readyToUpdate, send",
      "open, serviceAdded, advertisingStarted, subscribe, fault queue-full, send, close, open, serviceAdded, advertisingStarted, subscribe",
      "send, open, send, serviceAdded, send, advertisingStarted, wait 1 s, send, close, subscribe, write, open",
    ])
  func same(steps: String) throws {
    let playback = try play(steps, on: AirSocketDevice(), against: .socket)
    expect(playback.divergence, nil)
    expect(playback.trace, try play(steps, on: SocketDevice(), against: .socket).trace)
  }

  @Test("without power, and before it is known whether there is any, it is the same")
  func power() throws {
    for (setting, steps) in [
      ("powered", "open, powerOn, open, serviceAdded"), ("reported", "open, wait 1 s, powerOn, serviceAdded"),
      ("reported", "powerOff, open, powerOn, open, serviceFailed"),
      ("reported", "open, powerOff, powerOn, open"),
    ] {
      let settings = [Argument(setting, .flag(false))]
      let playback = try play(steps, on: AirSocketDevice(), against: .socket, settings: settings)
      expect(playback.divergence, nil)
      expect(playback.trace, try play(steps, on: SocketDevice(), against: .socket, settings: settings).trace)
    }
  }

  @Test(
    "the defects of the socket are seen over the air too",
    arguments: [
      (
        SocketApp.Defect.staleTimer,
        "open, serviceAdded, advertisingStarted, wait 2 s, subscribe, unsubscribe, open, serviceAdded, advertisingStarted, wait 2 s"
      ),
      (
        .foreignUnsubscription,
        "open, serviceAdded, advertisingStarted, subscribe, otherSubscribe, otherUnsubscribe"
      ),
    ])
  func defects(defect: SocketApp.Defect, steps: String) throws {
    expect(try play(steps, on: AirSocketDevice(), against: .socket).divergence, nil)
    #expect(try play(steps, on: AirSocketDevice(defect: defect), against: .socket).divergence != nil)
  }

  @Test("a value that is sent arrives at the central, and nobody breaks a rule of HCI")
  func arrival() throws {
    let app = AirSocketApp(StartCondition(), defect: nil, display: Display())
    for stimulus in [
      "open", "serviceAdded", "advertisingStarted", "subscribe", "otherSubscribe", "send", "send",
    ] {
      expect(try app.perform(stimulus, at: .zero), nil)
    }
    expect(app.air.centrals[0].values, 2)
    try app.bring(about: Fault("queue-full"))
    expect(try app.perform("send", at: .zero), nil)
    expect(app.air.centrals[0].values, 2)
    try app.bring(about: Fault("queue-full", .flag(false)))
    expect(try app.perform("readyToUpdate", at: .zero), nil)
    expect(app.air.centrals[0].values, 3)
    for stimulus in ["powerOff", "powerOn", "close"] { expect(try app.perform(stimulus, at: .zero), nil) }
    expect(app.air.radio.protocolViolations, [])
  }

  @Test(
    "what cannot be brought about is a lab fault that says why",
    arguments: [
      (
        ["open", "subscribe"], "no central has found the socket, which was not advertised yet"
      ),
      (["open", "serviceAdded", "subscribe", "advertisingFailed"], "the controller advertises already"),
      (
        ["open", "serviceAdded", "advertisingStarted", "close", "open", "subscribe", "serviceFailed"],
        "the service was added already"
      ),
    ])
  func impossible(stimuli: [String], reason: String) throws {
    let app = AirSocketApp(StartCondition(), defect: nil, display: Display())
    for stimulus in stimuli.dropLast() { expect(try app.perform(stimulus, at: .zero), nil) }
    do throws(LabFault) {
      _ = try app.perform(stimuli[stimuli.count - 1], at: .zero)
      Issue.record("it was done")
    } catch {
      expect(error, LabFault(.notPossible, reason))
    }
  }
}
