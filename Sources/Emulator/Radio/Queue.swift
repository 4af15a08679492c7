/// First in, first out, in one array that is used again and again.
///
/// Nothing is allocated once the storage has grown, and an element costs a few nanoseconds each way.
struct Queue<Element> {
  private var elements: [Element] = []
  private var head = 0

  init() {}

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }

  /// The element that has waited longest; there must be one.
  var first: Element { elements[head] }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  /// Takes the element that has waited longest; there must be one.
  mutating func removeFirst() -> Element {
    let element = elements[head]
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= elements.count {
      elements.removeSubrange(0..<head)
      head = 0
    }
    return element
  }

  mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }
}

extension Queue: Sendable where Element: Sendable {}
