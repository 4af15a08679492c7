/// One decision of a test: an act of the ``Alphabet``, in one of its variants.
///
/// A test is a list of choices, which generation, replay and shrinking edit. Choices are ordered by the number of the
/// act, then by the variant, so simpler ones come first.
public struct Choice: Hashable, Comparable, Sendable {
  /// The number of the act in the alphabet; for a stimulus, its number in the ``Vocabulary``.
  public var act: UInt16
  /// The number of the variant; the simplest is 0.
  public var variant: UInt16
  /// Whether the stimulus is one that no possible state allows and that the device must refuse.
  ///
  /// A replay that reaches a different state skips a choice that no longer means the same there.
  public var isForbidden: Bool

  /// Makes a choice.
  @inlinable
  public init(_ act: Int, variant: Int = 0, isForbidden: Bool = false) {
    self.act = UInt16(truncatingIfNeeded: act)
    self.variant = UInt16(truncatingIfNeeded: variant)
    self.isForbidden = isForbidden
  }

  @inlinable
  public static func < (left: Choice, right: Choice) -> Bool { left.rank < right.rank }

  /// The sort key of choices.
  @inlinable var rank: UInt64 {
    UInt64(act) << 17 | UInt64(variant) << 1 | (isForbidden ? 1 : 0)
  }
}

/// A test: a start of the machine, and the choices made from there.
public struct TestCase: Hashable, Sendable {
  /// The number of the start among the machine's starts.
  public var start: Int
  /// The choices, in order.
  public var choices: [Choice]

  /// Makes a test.
  public init(start: Int, _ choices: [Choice] = []) {
    self.start = start
    self.choices = choices
  }
}

extension TestCase: Comparable {
  /// Compares in shortlex order: the shorter test comes first; of two tests of equal length, the one with the simpler
  /// first difference.
  public static func < (left: TestCase, right: TestCase) -> Bool {
    guard left.choices.count == right.choices.count else { return left.choices.count < right.choices.count }
    for (first, second) in zip(left.choices, right.choices) where first != second { return first < second }
    return left.start < right.start
  }
}
