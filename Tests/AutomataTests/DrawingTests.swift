import Automata
import TestSupport
import Testing

/// A rectangle of a drawing.
private struct Area {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  func overlaps(_ other: Area) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}

@Suite("SVG: a machine as a drawing")
struct DrawingTests {
  /// The tags that are open at the end, or that were closed out of turn.
  private func unbalanced(_ svg: String) -> [String] {
    var open: [String] = []
    for match in svg.matches(of: /<(\/?)(\w+)[^>]*?(\/?)>/.matchingSemantics(.unicodeScalar)) {
      if !match.3.isEmpty { continue }
      if match.1.isEmpty {
        open.append(String(match.2))
      } else if open.popLast() != String(match.2) {
        return ["</\(match.2)>"]
      }
    }
    return open
  }

  private func boxes(_ svg: String) -> [Area] {
    svg.matches(of: /<rect x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)"/).compactMap { match in
      guard let x = Int(match.1), let y = Int(match.2), let width = Int(match.3), let height = Int(match.4)
      else { return nil }
      return Area(x: x, y: y, width: width, height: height)
    }
  }

  private func isApart(_ areas: [Area]) -> Bool {
    areas.indices.allSatisfy { first in
      areas[..<first].allSatisfy { !$0.overlaps(areas[first]) }
    }
  }

  @Test("states, labels and arrows of a small machine stand where they should")
  func small() {
    var machine = MachineDefinition(
      name: "door", events: [Event("Open"), Event("Close")], starts: [Start("Closed")])
    machine.add(
      diagram: """
        Closed --> <Opened> : Open ; "ring" & greet
        <Opened> --> Closed : Close
        <Opened> --> = : Open
        """)
    let svg = machine.svg()
    expect(unbalanced(svg), [])
    let areas = boxes(svg)
    // Two states and the labels of two arrows; the label of the loop stands beside its state.
    expect(areas.count, 4)
    #expect(isApart(areas))
    #expect(areas[0].y < areas[2].y && areas[2].y < areas[1].y)
    #expect(svg.contains(">&lt;Opened&gt;</text>"))
    #expect(svg.contains(">  / \"ring\" &amp; greet</text>"))
    expect(svg.matches(of: /<circle/).count, 1)
    expect(svg.matches(of: /marker-end="url\(#tip\)"/).count, 3)
    expect(svg.matches(of: /marker-start="url\(#tip\)"/).count, 1)
  }

  @Test("no box covers another, whatever the machine, and its text is sound XML")
  func random() {
    var machines = RandomMachines(seed: 11)
    for _ in 0..<40 {
      let svg = machines.next().svg()
      expect(unbalanced(svg), [])
      #expect(isApart(boxes(svg)))
      #expect(!svg.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }
  }
}
