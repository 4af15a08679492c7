/// First in, first out, in one array that is used again and again.
///
/// Nothing is allocated once the storage has grown, and an element costs a few nanoseconds each way. The elements have
/// indices from 0, the one that has waited longest first.
public struct FIFO<Element> {
  @usableFromInline var elements: [Element] = []
  /// How many of them were taken.
  @usableFromInline var head = 0

  /// Nothing waits.
  @inlinable
  public init() {}

  /// Adds an element behind those that wait.
  @inlinable
  public mutating func append(_ element: Element) { elements.append(element) }

  /// Takes the element that has waited longest; there must be one.
  @inlinable @discardableResult
  public mutating func removeFirst() -> Element {
    // The last one is moved out of the array, which is cheaper than copied, and is what most queues hold.
    guard head + 1 < elements.count else {
      let element = elements.removeLast()
      removeAll()
      return element
    }
    let element = elements[head]
    head += 1
    if head >= 64, head * 2 >= elements.count {
      elements.removeSubrange(0..<head)
      head = 0
    }
    return element
  }

  /// Takes the element that has waited longest; `nil` when there is none.
  @inlinable
  public mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

  /// Takes so many of those back that were added last.
  @inlinable
  public mutating func removeLast(_ count: Int) {
    precondition(count <= self.count, "fewer elements wait")
    elements.removeLast(count)
  }

  /// Drops everything, and keeps the storage.
  @inlinable
  public mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }

  /// Drops some, and leaves the others in their order.
  @inlinable
  public mutating func removeAll(where isUnwanted: (Element) throws -> Bool) rethrows {
    elements.removeSubrange(0..<head)
    head = 0
    try elements.removeAll(where: isUnwanted)
  }
}

extension FIFO: RandomAccessCollection, MutableCollection {
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { elements.count - head }

  @inlinable
  public subscript(index: Int) -> Element {
    get { elements[head + index] }
    _modify { yield &elements[head + index] }
  }
}

extension FIFO: Sendable where Element: Sendable {}
