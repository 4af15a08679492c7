import Basics

/// The client of one link: runs its procedures one after another, over one ``ATTClient``.
struct GATTClient: Sendable {
  private let offered: UInt16
  private var bearer = ATTClient()
  private var state = State.idle
  private var waiting = FIFO<(id: GATTProcedureID, procedure: GATTProcedure)>()
  private var lastID = 0
  private var hasAskedForMTU = false

  /// Makes the client of a new link, which offers this MTU in an exchange.
  init(offering mtu: UInt16) {
    offered = mtu
  }

  /// When ``advance(to:mtu:)`` must next be called.
  var due: Instant {
    switch state {
    case .running: bearer.deadline ?? .never
    case .idle, .closed: .never
    }
  }
}

extension GATTClient {
  mutating func start(
    _ procedure: GATTProcedure, mtu: inout UInt16, at now: Instant
  ) -> (GATTProcedureID, [GATTLink.Action]) {
    lastID += 1
    switch state {
    case .idle:
      waiting.append((lastID, procedure))
      return (lastID, startNext(mtu: &mtu, at: now))
    case .running:
      waiting.append((lastID, procedure))
      return (lastID, [])
    case .closed(let failure):
      return (lastID, [.report(.finished(lastID, .failure(failure)))])
    }
  }

  mutating func receive(_ response: ATTPacket, mtu: inout UInt16, at now: Instant) -> [GATTLink.Action] {
    carryOut(bearer.receive(response), mtu: &mtu, at: now)
  }

  mutating func receiveUndecodable(
    opcode: UInt8, mtu: inout UInt16, at now: Instant
  ) -> [GATTLink.Action] {
    carryOut(bearer.receiveUndecodable(opcode: opcode), mtu: &mtu, at: now)
  }

  mutating func advance(to now: Instant, mtu: inout UInt16) -> [GATTLink.Action] {
    carryOut(bearer.advance(to: now), mtu: &mtu, at: now)
  }

  /// Ends all procedures, the running one first, then the waiting ones in order; later ones fail in the same
  /// way.
  mutating func close(_ failure: GATTFailure) -> [GATTLink.Action] {
    var ended = waiting.map(\.id)
    switch state {
    case .idle: break
    case .running(let id, _): ended.insert(id, at: 0)
    case .closed: return []
    }
    state = .closed(failure)
    waiting.removeAll()
    return ended.map { .report(.finished($0, .failure(failure))) }
  }
}

extension GATTClient {
  private enum State {
    case idle
    /// Indirect, so that a link has a fixed size: its deadline is read at every turn.
    indirect case running(GATTProcedureID, any RunningProcedure)
    case closed(GATTFailure)
  }

  private mutating func carryOut(
    _ actions: [ATTClient.Action], mtu: inout UInt16, at now: Instant
  ) -> [GATTLink.Action] {
    var result: [GATTLink.Action] = []
    for action in actions {
      switch action {
      case .transmit(let packet): result.append(.transmit(packet))
      case .reportViolation(let sentence): result.append(.reportViolation(sentence))
      case .complete(.success(let answer)): result += proceed(with: .success(answer), mtu: &mtu, at: now)
      case .complete(.failure(.timedOut)): result += close(.timedOut)
      case .complete(.failure(.refused(let code, let handle))):
        result += proceed(with: .failure(.refused(code, handle)), mtu: &mtu, at: now)
      case .complete(.failure(.unexpected(let sentence))):
        result += proceed(with: .failure(.badAnswer(sentence)), mtu: &mtu, at: now)
      case .disconnect: result.append(.disconnect(.remoteUserTerminated))
      }
    }
    return result
  }

  private mutating func proceed(
    with answer: Result<ATTPacket, GATTFailure>, mtu: inout UInt16, at now: Instant
  ) -> [GATTLink.Action] {
    guard case .running(let id, var procedure) = state else { return [] }
    // The procedure is the only owner of its results while it adds to them, which avoids a copy.
    state = .idle
    do throws(GATTFailure) {
      if let result = try procedure.take(answer, mtu: Int(mtu)) {
        return finish(id, .success(result), mtu: &mtu) + startNext(mtu: &mtu, at: now)
      }
    } catch {
      return finish(id, .failure(error), mtu: &mtu) + startNext(mtu: &mtu, at: now)
    }
    let request = procedure.request
    state = .running(id, procedure)
    return carryOut(bearer.request(request, at: now), mtu: &mtu, at: now)
  }

  private mutating func finish(
    _ id: GATTProcedureID, _ result: Result<GATTResult, GATTFailure>, mtu: inout UInt16
  ) -> [GATTLink.Action] {
    var actions: [GATTLink.Action] = []
    if case .success(.mtu(let agreed)) = result, agreed != mtu {
      mtu = agreed
      actions.append(.report(.mtu(agreed)))
    }
    actions.append(.report(.finished(id, result)))
    return actions
  }

  /// Starts waiting procedures, up to the first one that needs a request.
  private mutating func startNext(mtu: inout UInt16, at now: Instant) -> [GATTLink.Action] {
    var actions: [GATTLink.Action] = []
    while let (id, procedure) = waiting.popFirst() {
      if let result = resultWithoutAsking(procedure, mtu: mtu) {
        actions.append(.report(.finished(id, .success(result))))
        continue
      }
      let running = procedure.begun(offering: offered, mtu: Int(mtu))
      state = .running(id, running)
      return actions + carryOut(bearer.request(running.request, at: now), mtu: &mtu, at: now)
    }
    return actions
  }

  private mutating func resultWithoutAsking(_ procedure: GATTProcedure, mtu: UInt16) -> GATTResult? {
    switch procedure {
    case .exchangeMTU:
      // Once in a link's life (Vol 3 Part F §3.4.2.1).
      defer { hasAskedForMTU = true }
      return hasAskedForMTU ? .mtu(mtu) : nil
    case .discoverCharacteristics(let range, _):
      return range.first > range.last ? .characteristics([]) : nil
    case .discoverDescriptors(let range, _):
      return range.first > range.last ? .descriptors([]) : nil
    case .discoverServices, .findService, .discoverAllServices, .read, .write:
      return nil
    }
  }
}
