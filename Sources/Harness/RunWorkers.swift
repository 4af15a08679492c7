public import Journal
import System

/// Where the cases of a run are driven one after the other: devices, and who adds to what came of a case.
///
/// Several go on side by side, each in a thread and with devices of its own.
public struct RunWorker {
  let provider: any DeviceProvider
  let conclude: (Case, inout Outcome, any JournalListener) -> Void

  /// Makes one.
  ///
  /// - Parameters:
  ///   - provider: makes the devices.
  ///   - conclude: adds to what came of a case the line to paste that does it again, and the files that belong to it,
  ///     before it is written down. One worker at a time is in it.
  public init(
    _ provider: any DeviceProvider,
    conclude: @escaping (Case, inout Outcome, any JournalListener) -> Void = { _, _, _ in }
  ) {
    self.provider = provider
    self.conclude = conclude
  }
}

/// Hands out the cases of a plan to workers, and puts what they say into the order of the plan.
///
/// The first case that is not done is written down as it goes; what later ones say is kept until it is their turn.
final class CaseQueue<Cases: RandomAccessCollection> where Cases.Index == Int {
  private let monitor: Monitor
  private let cases: Cases
  private let isWanted: (Cases.Element) -> Bool
  private let listener: any JournalListener
  private let observer: (any CaseObserver)?
  /// How far ahead of the first case that is not done others are begun: what they say takes room.
  private let reach: Int
  private var next = 0
  private var places = 0
  /// The place of the first case that is not done, among those that are wanted.
  private var head = 0
  private var kept: [Int: [CaseEvent]] = [:]
  private var ends: [Int: () -> Void] = [:]

  init(
    _ cases: Cases, _ listener: any JournalListener, seenBy observer: (any CaseObserver)?, _ monitor: Monitor,
    reach: Int, isWanted: @escaping (Cases.Element) -> Bool
  ) {
    (self.cases, self.listener, self.observer, self.monitor) = (cases, listener, observer, monitor)
    (self.reach, self.isWanted) = (reach, isWanted)
  }

  /// The next case, and the receiver of its events; `nil` if there is none.
  func take() -> (test: Cases.Element, listener: Turn)? {
    monitor.locked {
      while places - head >= reach { monitor.wait() }
      while next < cases.count {
        let test = cases[next]
        next += 1
        guard isWanted(test) else { continue }
        places += 1
        return (test, Turn(self, places - 1))
      }
      return nil
    }
  }

  /// Receives the events of one case.
  final class Turn: JournalListener {
    private let queue: CaseQueue
    private let place: Int

    fileprivate init(_ queue: CaseQueue, _ place: Int) { (self.queue, self.place) = (queue, place) }

    func take(_ record: Record) { queue.take(.record(record), at: place) }

    /// Receives the verdict on the case, which is judged after all earlier cases, in the order of the plan.
    func take(_ verdict: Record.Verdict, judgedBy judge: @escaping (inout Record.Verdict) -> Void) {
      queue.take(.verdict(verdict, judge), at: place)
    }
    func take(_ time: CaseTime) { queue.take(.time(time), at: place) }

    /// Says that the case is done; what follows is done in the order of the plan.
    func end(_ conclusion: @escaping () -> Void) { queue.end(place, conclusion) }
  }

  /// An event of a case.
  private enum CaseEvent {
    case record(Record)
    case verdict(Record.Verdict, (inout Record.Verdict) -> Void)
    case time(CaseTime)
  }

  private func take(_ event: CaseEvent, at place: Int) {
    monitor.locked {
      switch event {
      case .record(let record): observer?.see(record, of: place)
      case .verdict(let verdict, _): observer?.see(.verdict(verdict), of: place)
      case .time: break
      }
      if place == head { deliver(event) } else { kept[place, default: []].append(event) }
    }
  }

  private func deliver(_ event: CaseEvent) {
    switch event {
    case .record(let record): listener.take(record)
    case .verdict(var verdict, let judge):
      judge(&verdict)
      listener.take(.verdict(verdict))
    case .time(let time): listener.take(time)
    }
  }

  private func end(_ place: Int, _ conclusion: @escaping () -> Void) {
    monitor.locked {
      ends[place] = conclusion
      while let conclude = ends.removeValue(forKey: head) {
        conclude()
        head += 1
        for event in kept.removeValue(forKey: head) ?? [] { deliver(event) }
      }
      monitor.announce()
    }
  }
}
