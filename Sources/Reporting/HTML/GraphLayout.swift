/// States in layers and arrows between them, after Sugiyama.
///
/// States stand in layers by their distance from the first, labels in layers of their own between them, so that nothing
/// that is written is ever written over. All numbers are whole and no font is measured: one machine always gives one
/// drawing.
struct GraphLayout {
  /// Something that takes room.
  struct Box {
    var layer: Int
    var x = 0
    var y = 0
    var width: Int
    var height: Int

    var middle: Int { x + width / 2 }
  }

  struct Arrow {
    var from: Int
    var to: Int
    /// The boxes that it passes from its upper end to its lower; the first is its label.
    var route: [Int] = []
    var leadsUp = false
  }

  static let gap = 18
  static let rowGap = 24

  /// The states, then labels and bends.
  private(set) var boxes: [Box]
  private(set) var arrows: [Arrow]
  private var layers: [[Int]] = []
  private var neighbours: [[Int]] = []

  /// Lays out states and arrows of the given sizes; no arrow may lead back to where it comes from.
  init(
    states: [(width: Int, height: Int)], arrows: [(from: Int, to: Int)], labels: [(width: Int, height: Int)]
  ) {
    boxes = states.map { Box(layer: -1, width: $0.width, height: $0.height) }
    self.arrows = arrows.map { Arrow(from: $0.from, to: $0.to) }
    assignLayers()
    route(labels)
    findNeighbours()
    order()
    placeRows()
    placeColumns()
  }

  var extent: (width: Int, height: Int) {
    (boxes.map { $0.x + $0.width }.max() ?? 0, boxes.map { $0.y + $0.height }.max() ?? 0)
  }

  /// The boxes of an arrow from its upper end to its lower.
  func path(of arrow: Arrow) -> [Int] {
    arrow.leadsUp ? [arrow.to] + arrow.route + [arrow.from] : [arrow.from] + arrow.route + [arrow.to]
  }

  /// Breadth first from the first state, and from the first of those that are not reached.
  private mutating func assignLayers() {
    var next = [[Int]](repeating: [], count: boxes.count)
    for arrow in arrows { next[arrow.from].append(arrow.to) }
    for start in boxes.indices where boxes[start].layer < 0 {
      var layer = [start]
      var depth = 0
      boxes[start].layer = 0
      while !layer.isEmpty {
        depth += 2
        var below: [Int] = []
        for target in layer.flatMap({ next[$0] }) where boxes[target].layer < 0 {
          boxes[target].layer = depth
          below.append(target)
        }
        layer = below
      }
    }
    layers = [[Int]](repeating: [], count: (boxes.map(\.layer).max() ?? 0) + 2)
    for (number, box) in boxes.enumerated() { layers[box.layer].append(number) }
  }

  private mutating func route(_ labels: [(width: Int, height: Int)]) {
    for index in arrows.indices {
      let ends = (boxes[arrows[index].from].layer, boxes[arrows[index].to].layer)
      arrows[index].leadsUp = ends.1 < ends.0
      let top = min(ends.0, ends.1)
      for layer in (top + 1)...max(top + 1, max(ends.0, ends.1) - 1) {
        let size = layer == top + 1 ? labels[index] : (width: 4, height: 0)
        arrows[index].route.append(boxes.count)
        layers[layer].append(boxes.count)
        boxes.append(Box(layer: layer, width: size.width, height: size.height))
      }
    }
  }

  private mutating func findNeighbours() {
    neighbours = [[Int]](repeating: [], count: boxes.count)
    for arrow in arrows {
      let path = path(of: arrow)
      for (upper, lower) in zip(path, path.dropFirst()) {
        neighbours[upper].append(lower)
        neighbours[lower].append(upper)
      }
    }
  }

  /// Moves each box towards the middle of its neighbours, layer by layer, down and up again.
  private mutating func order() {
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

  private mutating func placeRows() {
    var y = 6
    for layer in layers where !layer.isEmpty {
      let height = layer.map { boxes[$0].height }.max() ?? 0
      for box in layer {
        // A bend is as high as its layer, so that its arrow passes the others upright.
        if boxes[box].height == 0 { boxes[box].height = height }
        boxes[box].y = y + (height - boxes[box].height) / 2
      }
      y += height + Self.rowGap
    }
  }

  private mutating func placeColumns() {
    for layer in layers { spread(layer, wanted: layer.map { _ in 0 }) }
    for sweep in 0..<6 {
      for index in sweep % 2 == 0 ? Array(layers.indices) : layers.indices.reversed() {
        let wanted = layers[index].map { box in
          let others = neighbours[box]
          guard !others.isEmpty else { return boxes[box].x }
          return others.reduce(0) { $0 + boxes[$1].middle } / others.count - boxes[box].width / 2
        }
        spread(layers[index], wanted: wanted)
      }
    }
    let left = boxes.map(\.x).min() ?? 0
    for box in boxes.indices { boxes[box].x += 6 - left }
  }

  /// Puts a layer's boxes where they want to be, moved apart evenly where they would touch.
  private mutating func spread(_ layer: [Int], wanted: [Int]) {
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
      blocks.append(Block(first: index, width: boxes[box].width + Self.gap, sum: wanted[index], count: 1))
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
        x += boxes[box].width + Self.gap
      }
    }
  }
}
