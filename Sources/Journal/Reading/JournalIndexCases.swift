import Basics
import System

// MARK: - Reading

extension JournalIndex {
  mutating func read(_ reader: inout JournalReader, _ journal: Int32, _ times: CaseTimes?) {
    reading = Reading()
    reading.times = times
    reading.first = table.count
    do {
      var start = JournalHeaderScan.Start()
      while let line = try reader.headerScan(&start) {
        switch line {
        case .success(.event(let time, let diagnostic)): take(eventAt: time, diagnostic)
        case .success(.start): begin(start, reader, journal)
        case .success(.verdict(let ended)): close(ended, reader)
        case .success(.other(let record)): take(record, reader, journal)
        case .failure(let problem):
          guard reading.ending != nil else {
            add(problem)
            continue
          }
          if reading.foreign.first == nil { reading.foreign.first = problem }
          reading.foreign.count += 1
        }
      }
    } catch {
      sources[Int(journal)].fault = error
      add(JournalProblem(line: 0, message: "\(error)"))
    }
    let wasOpen = open != nil
    closeOpenCase()
    checkEnd(wasOpen: wasOpen)
    omitForeign()
    statuses.append(reading.ending?.status)
    if let run = reading.run { runs.append(run) }
    if let campaign = reading.campaign { campaigns.append(campaign) }
  }

  private mutating func take(eventAt time: Int64, _ diagnostic: String?) {
    open?.entry.milliseconds = time
    guard let diagnostic else { return }
    open?.entry.hasDiagnostics = true
    if open == nil, diagnostics.count < Self.problemLimit { diagnostics.append(diagnostic) }
  }

  private mutating func take(_ record: Record, _ reader: borrowing JournalReader, _ journal: Int32) {
    switch record {
    case .run(let run):
      // The run line of a resumed run comes after the end of the previous session.
      reading.run = run
      reading.ending = nil
      // The lines between two sessions may have been part of one of them.
      if let foreign = reading.foreign.first { add(foreign) }
      reading.foreign = (nil, 0)
      closeOpenCase()
      reading.provisional.earlier.merge(reading.provisional.now) { $1 }
      reading.provisional.now = [:]
    case .begin(let start):
      let suite = suiteTable.number(of: className(id: start.id))
      (reading.device, reading.machine) = (RepeatedText(start.device), RepeatedText(start.machine))
      begin(
        Array(start.id.utf8), attempt: start.attempt, suite: suite,
        name: hash(caseName(of: start, copy: 1), suite), reader, journal)
    case .verdict(let verdict):
      close(verdict, id: Array(verdict.id.utf8), line: reader.line)
    case .coverage(let coverage):
      self.coverage.add(coverage)
    case .machine(let machine):
      if !machines.contains(where: { $0.name == machine.name }) { machines.append(machine) }
    case .end(let ending):
      reading.ending = ending
    case .finding(let finding):
      take(finding)
    case .left: break
    case .campaign(let status):
      reading.campaign = (status, reading.last?.caseIndex)
      if let last = reading.last { reading.provisional.now[key(last.id)] = last.caseIndex }
    case .event(let event):
      take(eventAt: event.time.milliseconds, event.isDiagnostic ? event.diagnostic : nil)
    }
  }

  private mutating func take(_ finding: Record.Finding) {
    let number = findingNumbers[finding.signature] ?? findings.count
    if number == findings.count {
      findingNumbers[finding.signature] = number
      findings.append(Found(finding: finding))
    }
    reading.next = Shown(number: number, finding: finding)
  }
}

// MARK: - Cases

extension JournalIndex {
  private mutating func begin(
    _ start: JournalHeaderScan.Start, _ reader: borrowing JournalReader, _ journal: Int32
  ) {
    let line = reader.bytes
    let scanner = LineTokens(line)
    let id = scanner.bytes(of: start.id)
    reading.device.read(start.device, scanner)
    reading.machine.read(start.machine, scanner)
    let suite = suiteTable.number(of: start, scanner)
    let name: UInt64
    if start.settings == nil, let plain = scanner.plainName(ofID: start.id) {
      name = scanner.hash(plain, after: suiteTable.hash(suite))
    } else {
      let settings = start.settings.flatMap { scanner.text(of: $0) }
      name = hash(caseName(id: scanner.text(of: start.id) ?? "", settings: settings, copy: 1), suite)
    }
    begin(id, attempt: start.attempt, suite: suite, name: name, reader, journal)
  }

  private mutating func begin(
    _ id: [UInt8], attempt: Int, suite: Int, name: UInt64, _ reader: borrowing JournalReader, _ journal: Int32
  ) {
    closeOpenCase()
    let time = (isReproducible ? nil : reader.keptTime) ?? reading.times?.time(ofLine: reader.line)
    if attempt > 1, let last = reading.last, last.id == id { return reopen(last.caseIndex, time) }
    reading.cases += 1
    if !reading.provisional.earlier.isEmpty,
      let caseIndex = reading.provisional.earlier.removeValue(forKey: key(id))
    {
      table.replace(caseIndex)
      reading.replaced += 1
    }
    open = Open(
      id: id, suite: suite, name: name,
      entry: Entry(
        journal: journal, offset: reader.offset, line: reader.line, copy: 1, milliseconds: 0, time: time))
    (reading.shown, reading.next, reading.failure) = (reading.next, nil, nil)
  }

  /// Reopens the case that ended last: the result of the new attempt counts.
  private mutating func reopen(_ caseIndex: Int, _ time: CaseTime?) {
    guard let last = reading.last, caseIndex == table.count - 1 else { return }
    let suite = table.suite(of: caseIndex)
    var entry = table.removeLast()
    suiteTable.uncount(suite)
    let name = names.removeLast()
    if failures.last?.caseIndex == caseIndex {
      let verdict = failures.removeLast().verdict
      reading.failure = reading.failure ?? verdict
    }
    if let number = reading.shown?.number, findings[number].caseIndex == caseIndex {
      (findings[number].caseIndex, findings[number].evidence) = (nil, nil)
    }
    entry.attempts += 1
    (entry.milliseconds, entry.observations) = (0, 0)
    if entry.attemptTimes.isEmpty { entry.attemptTimes = [entry.time] }
    entry.attemptTimes.append(time)
    if let time {
      entry.time = CaseTime(
        start: entry.time?.start ?? time.start, taken: time.taken + (entry.time?.taken ?? .zero))
    }
    reading.provisional.now[key(last.id)] = nil
    var attempts = last.attempts
    reading.endings.uncount(attempts.ending(failsFlaky: reading.run?.failsFlaky ?? false))
    attempts.beginAgain()
    open = Open(id: last.id, suite: suite, name: name, entry: entry, attempts: attempts)
  }

  private mutating func close(_ ended: JournalHeaderScan.Ended, _ reader: borrowing JournalReader) {
    let scanner = LineTokens(reader.bytes)
    if !ended.hasShown, !ended.ending.isRed || failures.count >= Self.failureLimit, let id = open?.id,
      scanner.isText(ended.id, id)
    {
      if ended.hasAttachments { self.open?.entry.hasDiagnostics = true }
      self.open?.entry.observations = ended.observations
      return close(ended.ending, after: ended.milliseconds, isTriedAgain: ended.isTriedAgain)
    }
    guard case .verdict(let verdict) = reader.whole() else { return }
    close(verdict, id: scanner.bytes(of: ended.id), line: reader.line)
  }

  private mutating func close(_ verdict: Record.Verdict, id: [UInt8], line: Int) {
    guard let open, open.id == id else {
      let reason = open.map { "while \(String(decoding: $0.id, as: UTF8.self)) is running" }
      return add(
        JournalProblem(
          line: line, message: "a verdict on \(verdict.id), \(reason ?? "and no case is running")"))
    }
    checkChoices(of: verdict, in: open.entry.journal)
    let ending = verdict.attemptEnding
    if ending.isRed, failures.count < Self.failureLimit {
      failures.append(Failure(caseIndex: table.count, verdict: verdict))
    }
    if !verdict.attachments.isEmpty { self.open?.entry.hasDiagnostics = true }
    self.open?.entry.observations = max(0, verdict.observations ?? 0)
    close(ending, after: verdict.time?.milliseconds, isTriedAgain: verdict.isTriedAgain)
  }

  private mutating func close(_ ending: Record.Ending, after time: Int64?, isTriedAgain: Bool) {
    open?.attempts.end(ending, isTriedAgain: isTriedAgain)
    if let time { open?.entry.milliseconds = time }
    closeOpenCase()
  }

  /// Appends the open case to the table; without a verdict, it is incomplete.
  private mutating func closeOpenCase() {
    guard var ended = open else { return }
    open = nil
    let caseIndex = table.count
    let ending = ended.attempts.ending(failsFlaky: reading.run?.failsFlaky ?? false)
    ended.entry.ending = ending
    reading.endings.count(ending)
    // The failed attempt is the reason why the case counts as failed.
    if ending == .failedAsFlaky, let failure = reading.failure, failures.count < Self.failureLimit {
      failures.append(Failure(caseIndex: caseIndex, verdict: failure))
    }
    if let shown = reading.shown, !recordEvidence(shown, ending, at: caseIndex) {
      ended.entry.ending = nil
      reading.replaced += 1
    } else if ending.element == .error {
      reading.provisional.now[key(ended.id)] = caseIndex
    }
    table.append(ended.entry, suite: ended.suite)
    names.append(ended.name)
    suiteTable.count(ended.suite)
    reading.last = (ended.id, caseIndex, ended.attempts)
  }

  /// Returns whether a case represents the finding that it shows; if so, it replaces the earlier case.
  private mutating func recordEvidence(_ shown: Shown, _ ending: Record.Ending, at caseIndex: Int) -> Bool {
    let known = findings[shown.number]
    let evidence = Record.Finding.Evidence(ending, shortest: shown.finding.shortest)
    if let other = known.caseIndex, let before = known.evidence {
      guard evidence.supersedes(before) else { return false }
      if other >= reading.first { reading.replaced += 1 }
      table.replace(other)
    }
    findings[shown.number] = Found(finding: shown.finding, caseIndex: caseIndex, evidence: evidence)
    return true
  }
}

// MARK: - Ends and problems

extension JournalIndex {
  /// Ensures that a run that did not end well cannot look successful.
  private mutating func checkEnd(wasOpen: Bool) {
    guard let ending = reading.ending else { return noteMissingEnd(wasOpen: wasOpen) }
    // The count of the end line may include replaced cases, or not.
    if ending.cases > reading.cases || ending.cases < reading.cases - reading.replaced {
      let message = "the run ended with \(ending.cases) cases, and the journal holds \(reading.cases)"
      add(JournalProblem(line: 0, message: message))
    }
    // Status 0 is agreement; 4 means that no case was selected.
    if [0, 4].contains(ending.status) {
      let count = (reading.first..<table.count).count { table.ending(of: $0)?.word == .incomplete }
      if count > 0, problems.isEmpty {
        let words = count == 1 ? "1 case has" : "\(count) cases have"
        let message = "the run ended with status \(ending.status), and \(words) no verdict in the journal"
        add(JournalProblem(line: 0, message: message))
      }
    } else if !showsWhy(ending.status) {
      // Earlier versions did not write which diagnostics are the reason.
      let reasons = ending.reasons.isEmpty ? diagnostics : ending.reasons
      let why = reasons.map { "; " + $0 }.joined()
      add(
        JournalProblem(
          line: 0, message: "the run ended with status \(ending.status)" + why,
          status: CommandStatus(rawValue: Int32(clamping: ending.status)) ?? .internalFault))
    }
  }

  /// Omits the lines after the end, and reports that; the counts of the end line prove that nothing is missing before
  /// it.
  private mutating func omitForeign() {
    guard let first = reading.foreign.first else { return }
    let count = reading.foreign.count
    let words =
      (count == 1
        ? "a line behind the end is no record and is"
        : "\(count) lines behind the end are no records and are")
      + " left out: \(first)"
    omissions.append(words)
    if diagnostics.count < Self.problemLimit { diagnostics.append("of the journal: " + words) }
  }

  /// Reports what is missing of a run that was killed.
  private mutating func noteMissingEnd(wasOpen: Bool) {
    let planned = reading.run?.cases
    let begun = reading.cases - reading.replaced
    let missing = planned.map { max(0, $0 - begun) } ?? 0
    if let planned {
      self.missing.of += planned
      self.missing.cases += missing
    }
    if wasOpen, missing == 0 { return }
    let words =
      missing == 0 ? "its journal just stops" : "\(missing) of its \(planned ?? 0) cases were not begun"
    add(JournalProblem(line: 0, message: "incomplete: the run did not end, \(words)"))
  }

  /// Returns whether a case of the run explains its exit status: a divergence needs a failure, other statuses also
  /// accept an error.
  private func showsWhy(_ status: Int) -> Bool {
    let isFailure = status == CommandStatus.divergence.rawValue
    return reading.endings.count(as: .failed) > 0 || !isFailure && reading.endings.count(as: .error) > 0
  }

  mutating func add(_ problem: JournalProblem) {
    if problems.count < Self.problemLimit {
      problems.append(problem)
    } else if problems.count == Self.problemLimit {
      problems.append(JournalProblem(line: 0, message: "and more lines that cannot be understood"))
    }
  }
}
