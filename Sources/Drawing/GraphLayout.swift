/// A layered layout of states and arrows, after Sugiyama.
///
/// The layer of a state is its distance from the starts. Labels are in layers of their own between the states, so
/// that no text overlaps another. An arrow that passes other layers has a bend in each. All numbers are integers and
/// no font is measured, so one graph always gives one drawing.
public struct GraphLayout {
  /// The space that something takes.
  public struct Size: Equatable, Sendable {
    /// To the right.
    public var width: Int
    /// Down.
    public var height: Int

    /// Makes a size.
    public init(_ width: Int, _ height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// The distances between things.
  public struct Spacing: Sendable {
    /// To the left of everything.
    public var margin: Int
    /// Above everything.
    public var top: Int
    /// Between two boxes in a layer.
    public var gap: Int
    /// Between two layers.
    public var rowGap: Int

    /// Makes a spacing.
    public init(margin: Int, top: Int, gap: Int, rowGap: Int) {
      self.margin = margin
      self.top = top
      self.gap = gap
      self.rowGap = rowGap
    }
  }

  /// A rectangle in the layout: a state, a label, or a bend.
  public struct Box: Equatable, Sendable {
    /// The position of its upper left corner.
    public fileprivate(set) var x = 0, y = 0
    /// Its size.
    public fileprivate(set) var width: Int, height: Int
    fileprivate var layer: Int

    fileprivate init(_ size: Size, layer: Int) {
      width = size.width
      height = size.height
      self.layer = layer
    }

    /// The horizontal middle.
    public var middle: Int { x + width / 2 }
  }

  /// An arrow from one state to another.
  public struct Arrow: Sendable {
    /// The numbers of the states that it joins.
    public let from: Int, to: Int
    /// The boxes on its path from its upper end to its lower end; the first is its label.
    public fileprivate(set) var route: [Int] = []
    /// Whether its head is at the upper end.
    public fileprivate(set) var leadsUp = false
  }

  /// The states, followed by labels and bends.
  public private(set) var boxes: [Box]
  /// The arrows, in the given order.
  public private(set) var arrows: [Arrow]
  private let loops: [Size]
  private let spacing: Spacing
  private var layers: [[Int]] = []
  private var neighbours: [[Int]] = []

  /// Lays out states and arrows.
  ///
  /// - Parameters:
  ///   - states: The size of each state.
  ///   - loops: The space that each state needs on its right for arrows to itself; empty if no state needs any.
  ///   - starts: The states of the top layer. If states cannot be reached from them, the first of these states is
  ///     another start, and so on.
  ///   - arrows: The states that each arrow joins; no arrow leads back to its own state.
  ///   - labels: The size of each arrow's label; its height is not zero.
  ///   - spacing: The distances in the layout.
  public init(
    states: [Size], loops: [Size] = [], starts: [Int], arrows: [(from: Int, to: Int)], labels: [Size],
    spacing: Spacing
  ) {
    precondition(arrows.allSatisfy { $0.from != $0.to }, "an arrow to its own state is no arrow of a layout")
    precondition(arrows.count == labels.count, "each arrow has a label")
    boxes = states.map { Box($0, layer: -1) }
    self.arrows = arrows.map { Arrow(from: $0.from, to: $0.to) }
    self.loops = loops
    self.spacing = spacing
    assignLayers(starts)
    route(labels)
    findNeighbours()
    order()
    placeRows()
    placeColumns()
  }

  /// The size of the drawing, from the origin to the right and down.
  public var extent: Size {
    Size(
      boxes.indices.map { boxes[$0].x + boxes[$0].width + loop($0).width }.max() ?? 0,
      boxes.indices.map { boxes[$0].y + (boxes[$0].height + max(boxes[$0].height, loop($0).height)) / 2 }
        .max() ?? 0)
  }

  /// Returns an arrow as a smooth curve through the middle of every box on its path, in the syntax of an SVG path.
  public func curve(of arrow: Arrow) -> String {
    let path = path(of: arrow).map { boxes[$0] }
    var (x, y) = (path[0].middle, path[0].y + path[0].height)
    var curve = "M\(x),\(y)"
    for (index, box) in path.enumerated().dropFirst() {
      // If both states are in one layer, the curve leaves the first and enters the second at the bottom.
      let end = box.y >= y ? box.y : box.y + box.height
      let bend = (end - y) / 2
      curve += " C\(x),\(y + bend) \(box.middle),\(end - bend) \(box.middle),\(end)"
      let continuesDown = index < path.count - 1 && path[index + 1].y > end
      if continuesDown { curve += " V\(box.y + box.height)" }
      (x, y) = (box.middle, continuesDown ? box.y + box.height : end)
    }
    return curve
  }

  /// Returns the boxes of an arrow from its upper end to its lower end; if both ends are in one layer, from its
  /// start.
  private func path(of arrow: Arrow) -> [Int] {
    arrow.leadsUp ? [arrow.to] + arrow.route + [arrow.from] : [arrow.from] + arrow.route + [arrow.to]
  }

  private func loop(_ box: Int) -> Size { box < loops.count ? loops[box] : Size(0, 0) }
}

// MARK: - Layers

extension GraphLayout {
  /// Assigns layers breadth first from the starts, and then from each state not reached so far. Odd layers are for
  /// labels.
  private mutating func assignLayers(_ starts: [Int]) {
    var next = [[Int]](repeating: [], count: boxes.count)
    for arrow in arrows { next[arrow.from].append(arrow.to) }
    descend(from: starts, next)
    for start in boxes.indices where boxes[start].layer < 0 { descend(from: [start], next) }
    layers = [[Int]](repeating: [], count: (boxes.map(\.layer).max() ?? 0) + 2)
    for (number, box) in boxes.enumerated() { layers[box.layer].append(number) }
  }

  private mutating func descend(from starts: [Int], _ next: [[Int]]) {
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
  }

  /// Gives each arrow its label below its upper end, and a bend in every other layer on its path.
  private mutating func route(_ labels: [Size]) {
    for index in arrows.indices {
      let ends = (boxes[arrows[index].from].layer, boxes[arrows[index].to].layer)
      arrows[index].leadsUp = ends.1 < ends.0
      let top = min(ends.0, ends.1)
      for layer in (top + 1)...max(top + 1, max(ends.0, ends.1) - 1) {
        arrows[index].route.append(boxes.count)
        layers[layer].append(boxes.count)
        boxes.append(Box(layer == top + 1 ? labels[index] : Size(4, 0), layer: layer))
      }
    }
  }

  /// Finds the boxes to which a segment of an arrow joins each box.
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

  /// Moves each box towards the middle of its neighbours, layer by layer, alternately down and up.
  private mutating func order() {
    var positions = [Int](repeating: 0, count: boxes.count)
    func number(_ layer: [Int]) {
      for (index, box) in layer.enumerated() { positions[box] = (2 * index + 1) * 100_000 / layer.count }
    }
    layers.forEach(number)
    for sweep in 0..<8 {
      let isDown = sweep % 2 == 0
      for index in isDown ? Array(layers.indices) : layers.indices.reversed() {
        let wanted = layers[index].map { box in
          let others = neighbours[box].filter { isDown ? boxes[$0].layer < index : boxes[$0].layer > index }
          return others.isEmpty ? positions[box] : others.reduce(0) { $0 + positions[$1] } / others.count
        }
        layers[index] = layers[index].indices.sorted { (wanted[$0], $0) < (wanted[$1], $1) }
          .map { layers[index][$0] }
        number(layers[index])
      }
    }
  }
}

// MARK: - Coordinates

extension GraphLayout {
  private mutating func placeRows() {
    var y = spacing.top
    for layer in layers where !layer.isEmpty {
      let height = layer.map { max(boxes[$0].height, loop($0).height) }.max() ?? 0
      for box in layer {
        // A bend is as high as its layer, so that its arrow passes the other boxes vertically.
        if boxes[box].height == 0 { boxes[box].height = height }
        boxes[box].y = y + (height - boxes[box].height) / 2
      }
      y += height + spacing.rowGap
    }
  }

  /// Moves boxes below or above their neighbours, as far as the order and the widths of their layers allow.
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
    for box in boxes.indices { boxes[box].x += spacing.margin - left }
  }

  /// Places the boxes of a layer at their wanted positions, and evenly shifts apart those that would overlap.
  private mutating func spread(_ layer: [Int], wanted: [Int]) {
    // Boxes that touch form a block, whose position is the average of the positions that its members want.
    struct Block {
      var first: Int
      var width: Int
      var sum: Int
      var count: Int
      var x: Int { sum / count }
    }
    var blocks: [Block] = []
    for (index, box) in layer.enumerated() {
      blocks.append(Block(first: index, width: totalWidth(of: box), sum: wanted[index], count: 1))
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
        x += totalWidth(of: box)
      }
    }
  }

  /// Returns the width that a box takes in its layer, including its loop and the gap on its right.
  private func totalWidth(of box: Int) -> Int { boxes[box].width + loop(box).width + spacing.gap }
}
