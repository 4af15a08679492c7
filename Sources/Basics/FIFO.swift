/// A first-in, first-out queue in one array, which it reuses.
///
/// Nothing is allocated once the storage has grown, and it takes a few nanoseconds to add or remove an element. The
/// elements have indices from 0, the oldest first.
public struct FIFO<Element> {
  @usableFromInline var elements: [Element] = []
  /// The number of removed elements at the start of the array.
  @usableFromInline var head = 0

  /// Makes an empty queue.
  @inlinable
  public init() {}

  /// Adds an element at the end.
  @inlinable
  public mutating func append(_ element: Element) { elements.append(element) }

  /// Removes and returns the oldest element; the queue must not be empty.
  @inlinable @discardableResult
  public mutating func removeFirst() -> Element {
    // The last element is moved out of the array, which is cheaper than a copy. Most queues hold only one.
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

  /// Removes and returns the oldest element, or returns `nil` if the queue is empty.
  @inlinable
  public mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

  /// Removes the newest elements, `count` of them.
  @inlinable
  public mutating func removeLast(_ count: Int) {
    precondition(count <= self.count, "fewer elements wait")
    elements.removeLast(count)
  }

  /// Removes all elements and keeps the storage.
  @inlinable
  public mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }

  /// Removes the elements that meet a condition; the others keep their order.
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
