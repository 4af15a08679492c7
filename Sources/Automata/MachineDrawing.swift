/// A machine laid out in layers for drawing, after Sugiyama.
///
/// States stand in layers by their distance from the start. Between two layers of states lies one for the
/// labels of arrows: a label is a box that takes its room like a state, so nothing that is written is ever
/// written over. An arrow that passes other layers gets a bend in each. All numbers are whole, and no font is
/// measured: one definition always gives one drawing.
struct MachineDrawing {
  /// Something that takes room.
  struct Box {
    /// What is written in it; a bend has nothing.
    var lines: [String]
    var layer: Int
    var x = 0
    var y = 0
    var width: Int
    var height: Int

    var middle: Int { x + width / 2 }
  }

  /// All rows that lead from one state to another.
  struct Arrow {
    var from: Int
    var to: Int
    var lines: [String] = []
    /// Whether the tester causes none of them.
    var isSpontaneous = true
    /// Whether all of them are ours.
    var isOurs = true
    /// The boxes that it passes, from the upper end to the lower, its label among them; none for a loop.
    var route: [Int] = []
    /// Whether its head is at the upper end.
    var leadsUp = false
  }

  static let characterWidth = 7
  static let lineHeight = 14
  static let margin = 40
  private static let gap = 24

  /// The states first, in the order of the definition; then labels and bends.
  private(set) var boxes: [Box]
  private(set) var arrows: [Arrow] = []
  /// The states in which a test can start.
  let starts: [Int]
  let stateCount: Int
  private var layers: [[Int]] = []

  init(_ machine: MachineDefinition) {
    var numbers: [String: Int] = [:]
    for (number, state) in machine.states.enumerated() { numbers[state.name] = number }
    stateCount = machine.states.count
    var seen = Set<Int>()
    starts = machine.starts.compactMap { numbers[$0.state] }.filter { seen.insert($0).inserted }
    boxes = machine.states.map { state in
      Self.box([state.name] + state.entry.map { "/ " + $0 }, layer: -1, padding: 12)
    }
    addArrows(machine, numbers)
    assignLayers()
    routeArrows()
    orderLayers()
    placeRows()
    placeColumns()
  }

  private static func box(_ lines: [String], layer: Int, padding: Int) -> Box {
    let width = (lines.map(\.count).max() ?? 0) * characterWidth + 2 * padding
    return Box(lines: lines, layer: layer, width: width, height: lines.count * lineHeight + padding)
  }

  private mutating func addArrows(_ machine: MachineDefinition, _ numbers: [String: Int]) {
    struct Ends: Hashable {
      var from: Int
      var to: Int
    }
    var positions: [Ends: Int] = [:]
    var stimuli = Set<String>()
    for event in machine.events where event.kind != .spontaneous { stimuli.insert(event.name) }
    let wildcards = Wildcards(machine)
    for transition in machine.transitions {
      var isCaused = false
      if case .event(let name) = transition.trigger {
        isCaused = stimuli.contains(name) && transition.window == .any
      }
      for source in wildcards.sources(of: transition).compactMap({ numbers[$0] }) {
        for target in transition.targets(from: machine.states[source].name).compactMap({ numbers[$0] }) {
          let ends = Ends(from: source, to: target)
          let position = positions[ends] ?? arrows.count
          if position == arrows.count { arrows.append(Arrow(from: source, to: target)) }
          positions[ends] = position
          arrows[position].lines += transition.drawnLines
          if isCaused { arrows[position].isSpontaneous = false }
          if transition.origin == .seed { arrows[position].isOurs = false }
        }
      }
    }
  }

  /// Breadth first from the starts; what cannot be reached comes last. Odd layers are left for labels.
  private mutating func assignLayers() {
    var next = [[Int]](repeating: [], count: stateCount)
    for arrow in arrows where arrow.from != arrow.to { next[arrow.from].append(arrow.to) }
    var layer = starts
    var depth = 0
    for box in layer { boxes[box].layer = 0 }
    while !layer.isEmpty {
      depth += 2
      var below: [Int] = []
      for target in layer.flatMap({ next[$0] }) where boxes[target].layer < 0 {
        boxes[target].layer = depth
        below.append(target)
      }
      layer = below
    }
    for box in boxes.indices where boxes[box].layer < 0 { boxes[box].layer = depth }
    layers = [[Int]](repeating: [], count: (boxes.map(\.layer).max() ?? 0) + 2)
    for (number, box) in boxes.enumerated() { layers[box.layer].append(number) }
  }

  /// Gives each arrow its label below its upper end, and a bend in every other layer on its way.
  private mutating func routeArrows() {
    for index in arrows.indices where arrows[index].from != arrows[index].to {
      let ends = (boxes[arrows[index].from].layer, boxes[arrows[index].to].layer)
      arrows[index].leadsUp = ends.1 < ends.0
      let top = min(ends.0, ends.1)
      for layer in (top + 1)...max(top + 1, max(ends.0, ends.1) - 1) {
        arrows[index].route.append(boxes.count)
        layers[layer].append(boxes.count)
        boxes.append(
          layer == top + 1
            ? Self.box(arrows[index].lines, layer: layer, padding: 4)
            : Box(lines: [], layer: layer, width: 4, height: 0))
      }
    }
  }

  /// Moves each box towards the middle of its neighbours, layer by layer, down and up again.
  private mutating func orderLayers() {
    let neighbours = neighbours()
    var place = [Int](repeating: 0, count: boxes.count)
    func number(_ layer: [Int]) {
      for (index, box) in layer.enumerated() { place[box] = (2 * index + 1) * 100_000 / layer.count }
    }
    layers.forEach(number)
    for sweep in 0..<8 {
      let isDown = sweep % 2 == 0
      for index in isDown ? Array(layers.indices) : layers.indices.reversed() {
        let wanted = layers[index].map { box in
          let others = neighbours[box].filter { isDown ? boxes[$0].layer < index : boxes[$0].layer > index }
          return others.isEmpty ? place[box] : others.reduce(0) { $0 + place[$1] } / others.count
        }
        layers[index] = layers[index].indices.sorted { (wanted[$0], $0) < (wanted[$1], $1) }
          .map { layers[index][$0] }
        number(layers[index])
      }
    }
  }

  /// The boxes that each box is joined to by a piece of an arrow.
  private func neighbours() -> [[Int]] {
    var neighbours = [[Int]](repeating: [], count: boxes.count)
    for arrow in arrows where arrow.from != arrow.to {
      let path = path(of: arrow)
      for (upper, lower) in zip(path, path.dropFirst()) {
        neighbours[upper].append(lower)
        neighbours[lower].append(upper)
      }
    }
    return neighbours
  }

  /// The boxes of an arrow from its upper end to its lower; two ends in one layer both count as upper.
  func path(of arrow: Arrow) -> [Int] {
    arrow.leadsUp ? [arrow.to] + arrow.route + [arrow.from] : [arrow.from] + arrow.route + [arrow.to]
  }

  private mutating func placeRows() {
    var y = Self.margin + 3 * Self.lineHeight
    let loops = loopSizes()
    for layer in layers {
      let height = layer.map { max(boxes[$0].height, loops[$0].height) }.max() ?? 0
      for box in layer {
        // A bend is as high as its layer, so that its arrow passes the others upright.
        if boxes[box].lines.isEmpty { boxes[box].height = height }
        boxes[box].y = y + (height - boxes[box].height) / 2
      }
      y += height + 22
    }
  }

  /// Moves boxes under their neighbours as far as the order and the widths of their layers allow.
  private mutating func placeColumns() {
    let neighbours = neighbours()
    let loops = loopSizes().map(\.width)
    for layer in layers { spread(layer, wanted: layer.map { _ in 0 }, loops) }
    for sweep in 0..<6 {
      for index in sweep % 2 == 0 ? Array(layers.indices) : layers.indices.reversed() {
        let wanted = layers[index].map { box in
          let others = neighbours[box]
          guard !others.isEmpty else { return boxes[box].x }
          return others.reduce(0) { $0 + boxes[$1].middle } / others.count - boxes[box].width / 2
        }
        spread(layers[index], wanted: wanted, loops)
      }
    }
    let left = boxes.map(\.x).min() ?? 0
    for box in boxes.indices { boxes[box].x += Self.margin - left }
  }

  /// Puts a layer's boxes where they want to be, moved apart evenly where they would touch.
  private mutating func spread(_ layer: [Int], wanted: [Int], _ loops: [Int]) {
    // Boxes that touch form a block, which stands where its members want to be on average.
    struct Block {
      var first: Int
      var width: Int
      var sum: Int
      var count: Int
      var x: Int { sum / count }
    }
    var blocks: [Block] = []
    for (index, box) in layer.enumerated() {
      let width = boxes[box].width + loops[box] + Self.gap
      blocks.append(Block(first: index, width: width, sum: wanted[index], count: 1))
      while blocks.count > 1,
        blocks[blocks.count - 2].x + blocks[blocks.count - 2].width > blocks[blocks.count - 1].x
      {
        let last = blocks.removeLast()
        blocks[blocks.count - 1].sum += last.sum - last.count * blocks[blocks.count - 1].width
        blocks[blocks.count - 1].count += last.count
        blocks[blocks.count - 1].width += last.width
      }
    }
    for (number, block) in blocks.enumerated() {
      var x = block.x
      let end = number + 1 < blocks.count ? blocks[number + 1].first : layer.count
      for box in layer[block.first..<end] {
        boxes[box].x = x
        x += boxes[box].width + loops[box] + Self.gap
      }
    }
  }

  /// The room beside each box for the arrow from it to itself, whose label stands there.
  private func loopSizes() -> [(width: Int, height: Int)] {
    var sizes = [(width: Int, height: Int)](repeating: (0, 0), count: boxes.count)
    for arrow in arrows where arrow.from == arrow.to {
      sizes[arrow.from].width = 40 + (arrow.lines.map(\.count).max() ?? 0) * Self.characterWidth
      sizes[arrow.from].height = arrow.lines.count * Self.lineHeight
    }
    return sizes
  }

  /// How far the drawing reaches to the right and down.
  var extent: (width: Int, height: Int) {
    let loops = loopSizes()
    return (
      boxes.indices.map { boxes[$0].x + boxes[$0].width + loops[$0].width }.max() ?? 0,
      boxes.indices.map { boxes[$0].y + (boxes[$0].height + max(boxes[$0].height, loops[$0].height)) / 2 }
        .max() ?? 0
    )
  }
}

extension Transition {
  /// What is written at the row's arrow: the event, and each effect on a line of its own.
  fileprivate var drawnLines: [String] {
    let label = RowLabel(self).description
    return [shows.map { "\(label)/\($0)" } ?? label] + (before + after).map { "  / " + $0 }
  }
}
