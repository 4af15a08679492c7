/// States in layers and arrows between them, after Sugiyama.
///
/// States stand in layers by their distance from the starts, labels in layers of their own between them, so that nothing
/// that is written is ever written over. An arrow that passes other layers gets a bend in each. All numbers are whole
/// and no font is measured: one graph always gives one drawing.
public struct GraphLayout {
  /// How much room something takes.
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

  /// What stands between things.
  public struct Spacing: Sendable {
    /// Left of everything.
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

  /// Something that takes room: a state, a label, or a bend.
  public struct Box: Equatable, Sendable {
    /// Where its upper left corner is.
    public fileprivate(set) var x = 0, y = 0
    /// How wide and how high it is.
    public fileprivate(set) var width: Int, height: Int
    fileprivate var layer: Int

    fileprivate init(_ size: Size, layer: Int) {
      width = size.width
      height = size.height
      self.layer = layer
    }

    /// Half-way from its left to its right.
    public var middle: Int { x + width / 2 }
  }

  /// A way from one state to another.
  public struct Arrow: Sendable {
    /// The number of a state.
    public let from: Int, to: Int
    /// The boxes that it passes from its upper end to its lower; the first is its label.
    public fileprivate(set) var route: [Int] = []
    /// Whether its head is at the upper end.
    public fileprivate(set) var leadsUp = false
  }

  /// The states, then labels and bends.
  public private(set) var boxes: [Box]
  /// The arrows, as they were given.
  public private(set) var arrows: [Arrow]
  private let loops: [Size]
  private let spacing: Spacing
  private var layers: [[Int]] = []
  private var neighbours: [[Int]] = []

  /// Lays out states and arrows.
  ///
  /// - Parameters:
  ///   - states: how large each state is.
  ///   - loops: what each state needs on its right for arrows from it to itself; nothing where it is empty.
  ///   - starts: the states of the uppermost layer. The first of those that cannot be reached from them is another.
  ///   - arrows: which states each arrow joins; none leads back to where it comes from.
  ///   - labels: how large the label of each arrow is, which has some height.
  ///   - spacing: what stands between.
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

  /// How far the drawing reaches to the right and down.
  public var extent: Size {
    Size(
      boxes.indices.map { boxes[$0].x + boxes[$0].width + loop($0).width }.max() ?? 0,
      boxes.indices.map { boxes[$0].y + (boxes[$0].height + max(boxes[$0].height, loop($0).height)) / 2 }
        .max() ?? 0)
  }

  /// An arrow as a smooth curve through the middle of everything on its way, in the words of an SVG path.
  public func curve(of arrow: Arrow) -> String {
    let path = path(of: arrow).map { boxes[$0] }
    var (x, y) = (path[0].middle, path[0].y + path[0].height)
    var curve = "M\(x),\(y)"
    for (index, box) in path.enumerated().dropFirst() {
      // Of two states in one layer the second is reached from below, as the first was left.
      let end = box.y >= y ? box.y : box.y + box.height
      let bend = (end - y) / 2
      curve += " C\(x),\(y + bend) \(box.middle),\(end - bend) \(box.middle),\(end)"
      let goesOn = index < path.count - 1 && path[index + 1].y > end
      if goesOn { curve += " V\(box.y + box.height)" }
      (x, y) = (box.middle, goesOn ? box.y + box.height : end)
    }
    return curve
  }

  /// The boxes of an arrow from its upper end to its lower; two ends in one layer both count as upper.
  private func path(of arrow: Arrow) -> [Int] {
    arrow.leadsUp ? [arrow.to] + arrow.route + [arrow.from] : [arrow.from] + arrow.route + [arrow.to]
  }

  private func loop(_ box: Int) -> Size { box < loops.count ? loops[box] : Size(0, 0) }
}

// MARK: - Layers

extension GraphLayout {
  /// Breadth first from the starts, and from the first of those that are not reached. Odd layers are left for labels.
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

  /// Gives each arrow its label below its upper end, and a bend in every other layer on its way.
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

  /// Which boxes each box is joined to by a piece of an arrow.
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
}

// MARK: - Places

extension GraphLayout {
  private mutating func placeRows() {
    var y = spacing.top
    for layer in layers where !layer.isEmpty {
      let height = layer.map { max(boxes[$0].height, loop($0).height) }.max() ?? 0
      for box in layer {
        // A bend is as high as its layer, so that its arrow passes the others upright.
        if boxes[box].height == 0 { boxes[box].height = height }
        boxes[box].y = y + (height - boxes[box].height) / 2
      }
      y += height + spacing.rowGap
    }
  }

  /// Moves boxes under their neighbours as far as the order and the widths of their layers allow.
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
      blocks.append(Block(first: index, width: room(box), sum: wanted[index], count: 1))
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
        x += room(box)
      }
    }
  }

  /// What a box takes of its layer, with what must stand on its right.
  private func room(_ box: Int) -> Int { boxes[box].width + loop(box).width + spacing.gap }
}
