import Drawing
import TestSupport
import Testing

@Suite("Graphs laid out for drawing")
struct GraphLayoutTests {
  private static let spacing = GraphLayout.Spacing(margin: 10, top: 20, gap: 5, rowGap: 8)

  private func layout(
    _ count: Int, starts: [Int] = [0], _ arrows: [(from: Int, to: Int)], loops: [GraphLayout.Size] = []
  ) -> GraphLayout {
    GraphLayout(
      states: (0..<count).map { GraphLayout.Size(40 + 10 * $0, 20) }, loops: loops, starts: starts,
      arrows: arrows, labels: arrows.map { GraphLayout.Size(20 + 3 * $0.from, 12) }, spacing: Self.spacing)
  }

  @Test("two states and the label between them stand below each other")
  func pair() {
    let pair = layout(2, [(0, 1)])
    expect(
      pair.boxes.map { [$0.x, $0.y, $0.width, $0.height] },
      [[15, 20, 40, 20], [10, 68, 50, 20], [25, 48, 20, 12]])
    expect(pair.arrows.map(\.route), [[2]])
    expect(pair.curve(of: pair.arrows[0]), "M35,40 C35,44 35,44 35,48 V60 C35,64 35,64 35,68")
    expect(pair.extent, GraphLayout.Size(60, 88))
  }

  @Test("an arrow back up passes what lies between, and has its head at the upper end")
  func upwards() {
    let ring = layout(3, [(0, 1), (1, 2), (2, 0)])
    expect(ring.arrows.map(\.leadsUp), [false, false, true])
    expect(ring.arrows.map(\.route.count), [1, 1, 3])
    let bend = ring.boxes[ring.arrows[2].route[1]]
    expect([bend.y, bend.height], [ring.boxes[1].y, ring.boxes[1].height])
  }

  @Test("a state that no start leads to is a start of its own")
  func unreached() {
    expect(layout(3, [(1, 2)]).boxes[..<3].map(\.y), [20, 20, 68])
    expect(layout(2, starts: [1, 0], []).boxes.map(\.y), [20, 20])
  }

  @Test("what an arrow to its own state needs is kept free beside it")
  func loops() {
    let plain = layout(3, [(0, 1), (0, 2)])
    let looped = layout(3, [(0, 1), (0, 2)], loops: [.init(0, 0), .init(100, 60), .init(0, 0)])
    expect(plain.boxes[2].x - plain.boxes[1].x, plain.boxes[1].width + Self.spacing.gap)
    expect(looped.boxes[2].x - looped.boxes[1].x, looped.boxes[1].width + 100 + Self.spacing.gap)
    expect(looped.extent.height - plain.extent.height, 40)
  }

  @Test("nothing is written over anything, whatever the graph", arguments: 0..<40)
  func apart(seed: Int) {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    func draw(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let count = 2 + draw(9)
    let arrows = (0..<draw(20)).map { _ in (from: draw(count), to: draw(count)) }.filter { $0.from != $0.to }
    let loops = (0..<count).map { _ in GraphLayout.Size(draw(60), draw(50)) }
    let graph = layout(count, arrows, loops: loops)
    for (number, box) in graph.boxes.enumerated() {
      #expect(box.x >= Self.spacing.margin && box.y >= Self.spacing.top)
      for other in graph.boxes[..<number] {
        let isBeside = box.x >= other.x + other.width || other.x >= box.x + box.width
        let isBelow = box.y >= other.y + other.height || other.y >= box.y + box.height
        #expect(isBeside || isBelow, "\(box) stands over \(other)")
      }
    }
  }
}
