import Basics
import TestSupport
import Testing

@Suite("First in, first out")
struct FIFOTests {
  @Test("keeps its order and its number, however elements come and go", arguments: [UInt64(1), 2, 3])
  func order(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = FIFO<Int>()
    var model: [Int] = []
    for number in 0..<20_000 {
      // It is never empty for long stretches, so that what was taken has to be let go of on the way.
      switch generator.below(40) {
      case 0 where model.count > 8:
        queue.removeLast(3)
        model.removeLast(3)
      case 1:
        queue.removeAll { $0 % 5 == 0 }
        model.removeAll { $0 % 5 == 0 }
      case 2 where model.count > 200:
        queue.removeAll()
        model.removeAll()
      case 3 where !model.isEmpty:
        queue[queue.count - 1] = -number
        model[model.count - 1] = -number
      case _ where model.count < 5 || generator.below(5) > 1:
        queue.append(number)
        model.append(number)
      default:
        if queue.first != model.first || queue.popFirst() != model.removeFirst() {
          Issue.record("out of order at \(number)")
        }
      }
      if queue.count != model.count { Issue.record("\(queue.count) of \(model.count)") }
    }
    expect(Array(queue), model)
    expect(Array(queue.dropFirst(3)), Array(model.dropFirst(3)))
  }

  @Test("has nothing to give when it is empty")
  func empty() {
    var queue = FIFO<String>()
    expect(queue.popFirst(), nil)
    queue.append("one")
    expect(queue.popFirst(), "one")
    expect(queue.popFirst(), nil)
    expect(queue.isEmpty, true)
  }
}
