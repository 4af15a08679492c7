public import Journal
import System

/// Runs cases one after the other, with its own devices.
///
/// Several workers run concurrently, each in a thread of its own.
public struct RunWorker {
  let provider: any DeviceProvider
  let conclude: (Case, inout Outcome, any JournalListener) -> Void

  /// Makes a worker.
  ///
  /// - Parameters:
  ///   - provider: makes the devices.
  ///   - conclude: adds the replay command and the attachments to an outcome before it is recorded. Called by
  ///     one worker at a time.
  public init(
    _ provider: any DeviceProvider,
    conclude: @escaping (Case, inout Outcome, any JournalListener) -> Void = { _, _, _ in }
  ) {
    self.provider = provider
    self.conclude = conclude
  }
}

/// Hands out the cases of a plan to workers, and delivers their events in the order of the plan.
///
/// Events of the first unfinished case are delivered at once; those of later cases are kept until it is their
/// turn.
final class CaseQueue<Cases: RandomAccessCollection> where Cases.Index == Int {
  private let monitor: Monitor
  private let cases: Cases
  private let isWanted: (Cases.Element) -> Bool
  private let listener: any JournalListener
  private let observer: (any CaseObserver)?
  /// How far beyond the first unfinished case others may begin: their events take memory.
  private let reach: Int
  private var next = 0
  private var places = 0
  /// The index of the first unfinished case, among the selected ones.
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

    /// Ends the case. The conclusion runs in the order of the plan.
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
