import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("The client of a bearer")
struct ATTClientTests {
  let read = ATTPacket.readRequest(GATTFixture.handle(3))

  @Test("a request is complete with its response or its error, and only then another may follow")
  func complete() {
    var client = ATTClient()
    expect(client.deadline, nil)
    expect(client.request(read, at: .zero), [.transmit(read)])
    expect(client.deadline, .zero + .seconds(30))
    expect(client.receive(.readResponse([1])), [.complete(.success(.readResponse([1])))])
    expect(client.deadline, nil)
    expect(client.request(read, at: .zero), [.transmit(read)])
    expect(
      client.receive(GATTFixture.error(0x0A, 3, .readNotPermitted)),
      [.complete(.failure(.refused(.readNotPermitted, GATTFixture.handle(3))))])
    expect(client.request(.writeRequest(GATTFixture.handle(1), []), at: .zero).count, 1)
  }

  @Test("what answers something else ends the request, and what answers nothing is complained of")
  func wrongAnswers() {
    var client = ATTClient()
    expect(client.request(read, at: .zero), [.transmit(read)])
    expect(
      client.receive(.readBlobResponse([])),
      [.complete(.failure(.unexpected("opcode 0x0d for request 0x0a")))])
    expect(client.request(read, at: .zero), [.transmit(read)])
    expect(
      client.receive(GATTFixture.error(0x0C, 3, .invalidHandle)),
      [.complete(.failure(.unexpected("an error for request 0x0c, not 0x0a")))])
    expect(client.request(read, at: .zero), [.transmit(read)])
    expect(
      client.receiveUndecodable(opcode: 0x0B),
      [.complete(.failure(.unexpected("an undecodable response, opcode 0x0b")))])
    expect(client.receive(.readResponse([])), [.reportViolation("a response, opcode 0x0b, to no request")])
    expect(
      client.receiveUndecodable(opcode: 0x01),
      [.reportViolation("an undecodable response, opcode 0x01, to no request")])
  }

  @Test("a response thirty seconds late kills the bearer, and nothing earlier does")
  func transactionTimeout() {
    var client = ATTClient()
    expect(client.request(read, at: .zero + .seconds(5)), [.transmit(read)])
    expect(client.advance(to: .zero + .milliseconds(34_999)), [])
    expect(
      client.advance(to: .zero + .seconds(35)),
      [.complete(.failure(.timedOut(opcode: 0x0A))), .disconnect(.timedOut(opcode: 0x0A))])
    expect(client.deadline, nil)
    expect(client.advance(to: .zero + .seconds(99)), [])
    expect(client.receive(.readResponse([1])), [])
    expect(client.receiveUndecodable(opcode: 0x0B), [])
  }

  @Test("a second request before the answer is our own fault")
  func twoRequests() async {
    await #expect(processExitsWith: .failure) {
      var client = ATTClient()
      _ = client.request(.readRequest(GATTFixture.handle(1)), at: .zero)
      _ = client.request(.readRequest(GATTFixture.handle(1)), at: .zero)
    }
  }
}
