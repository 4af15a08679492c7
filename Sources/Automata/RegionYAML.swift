import Documents

// Regions in YAML, in place of `states` and `transitions`:
//
//     regions:
//       link:
//         states: [away, { name: connected, transparent: true }]
//         start: away
//         transitions:
//           - { event: connect, from: away, to: connected }
//       lock:
//         states: [locked, unlocked]
//         start: locked
//         transitions:
//           - { event: enter, from: locked, to: unlocked, in: { link: connected } }
//           - { from: unlocked, to: locked, after: 7 s }
//     starts:
//       - { state: { link: connected } }

/// A warning about a region, with its position.
struct RegionNote: Equatable, Sendable {
  var kind: DefinitionWarning.Kind
  var place: DefinitionPlaces.Place

  static func == (left: Self, right: Self) -> Bool { left.kind == right.kind && left.place == right.place }
}

extension MachineReader {
  /// The positions of a region.
  private struct Cursors {
    var name: Cursor
    var start: Cursor
    var states: [Cursor]
    var rows: [Cursor]
  }

  /// Reads a machine of regions, and returns the machine of all of them together.
  func regions(_ fields: Fields, _ shared: Shared?, isWhole: Bool) -> Machine? {
    let entries = fields.optional("regions")?.entries()
    let regions = entries?.map { region($0.key, $0.value) } ?? []
    let starts = fields.optional("starts").map { $0.list() } ?? []
    let startList = starts?.compactMap(regionStart) ?? []
    let read = regions.compactMap { $0 }
    guard isWhole, let shared, let entries, read.count == entries.count, let starts,
      startList.count == starts.count
    else { return nil }
    let cursors = read.map(\.cursors)
    let machine = RegionMachine(shared.definition, regions: read.map(\.region), starts: startList)
    let (product, findings) = machine.expanded()
    func cursor(_ place: RegionPlace) -> Cursor {
      switch place {
      case .machine: root
      case .regions: fields.key("regions") ?? root
      case .region(let number): cursors[number].start
      case .state(let region, let number): cursors[region].states[number]
      case .row(let region, let number): cursors[region].rows[number]
      case .start(let number): starts[number]
      case .event(let number): shared.events[number]
      case .condition(let number): shared.conditions[number]
      case .choice(let number): shared.choices[number]
      case .variable(let number): shared.variables[number].value
      }
    }
    for finding in findings { report(finding.fault, at: cursor(finding.place), hint: finding.hint) }
    guard let product else { return nil }
    func places(_ count: Int, _ part: (Int) -> DefinitionFinding.Place) -> [DefinitionPlaces.Place] {
      Self.places((0..<count).map { cursor(machine.place(of: part($0), in: product)) })
    }
    var all = self.places(of: shared)
    all.haveRegions = true
    all.states = places(product.states.count) { .state($0) }
    all.rows = places(product.rows.count) { .row($0) }
    all.starts = places(product.definition.starts.count) { .start($0) }
    return (product.definition, all, notes(product, of: machine, cursors))
  }

  /// The states that the regions never reach, and the rows that they never take.
  private func notes(
    _ product: RegionProduct, of machine: RegionMachine, _ cursors: [Cursors]
  ) -> [RegionNote] {
    var notes: [RegionNote] = []
    for (number, region) in machine.regions.enumerated() {
      let reached = Set(product.states.map { $0[number] })
      let names = Set(reached.map { region.states[$0].name })
      for (index, state) in region.states.enumerated() where !reached.contains(index) {
        notes.append(
          RegionNote(
            kind: .unreachable(state: state.name), place: Self.places([cursors[number].states[index]])[0]))
      }
      let taken = Set(product.rows.map { $0[number] })
      for (index, row) in region.rows.enumerated() where !taken.contains(index) {
        // The state that the row leads from has its own warning.
        if case .states(let sources) = row.transition.from, names.isDisjoint(with: sources) { continue }
        let label = RowLabel(row.transition).description
        notes.append(
          RegionNote(
            kind: .neverTogether(row: label), place: Self.places([cursors[number].rows[index]])[0]))
      }
    }
    return notes
  }

  private func region(_ key: Cursor, _ value: Cursor) -> (region: Region, cursors: Cursors)? {
    guard let name = key.text("a region"), let fields = value.fields(MachineGrammar.region) else {
      return nil
    }
    let states = fields.required("states")?.list()
    let startCursor = fields.required("start")
    let start = startCursor?.text("a state")
    let rows = fields.required("transitions")?.list()
    let stateList = states?.compactMap { state($0, keys: MachineGrammar.regionState) } ?? []
    let rowList = rows?.compactMap(row) ?? []
    guard let states, let startCursor, let start, let rows, stateList.count == states.count,
      rowList.count == rows.count
    else { return nil }
    let transparent = zip(states, stateList).filter { cursor, _ in
      self.value("transparent", of: cursor)?.flag() ?? false
    }
    return (
      Region(
        name, states: stateList, transparent: Set(transparent.map(\.1.name)), start: start, rows: rowList),
      Cursors(name: key, start: startCursor, states: states, rows: rows)
    )
  }

  private func row(_ cursor: Cursor) -> Region.Row? {
    guard let transition = transition(cursor, keys: MachineGrammar.regionRow) else { return nil }
    let entries = value("in", of: cursor).map { $0.entries() } ?? []
    guard let entries else { return nil }
    let inside = entries.compactMap { key, value in
      key.text("a region").map { Region.Requirement($0, names(value)) }
    }
    return inside.count == entries.count ? Region.Row(transition, in: inside) : nil
  }

  /// Returns the value of a key of a mapping whose keys have been checked.
  private func value(_ key: String, of cursor: Cursor) -> Cursor? {
    guard cursor.node.entries != nil else { return nil }
    return cursor.entries()?.first { $0.key.node.text == key }?.value
  }

  private func regionStart(_ cursor: Cursor) -> RegionStart? {
    guard let fields = cursor.fields(MachineGrammar.start),
      let entries = fields.required("state")?.entries()
    else { return nil }
    let states = entries.compactMap { key, value -> (region: String, state: String)? in
      guard let region = key.text("a region"), let state = value.text("a state") else { return nil }
      return (region, state)
    }
    guard states.count == entries.count, let start = start("", fields) else { return nil }
    return RegionStart(states, when: start.conditions, set: start.set, start: start.start)
  }
}
