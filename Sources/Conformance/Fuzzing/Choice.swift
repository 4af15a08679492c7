/// One decision of a test: which act of the ``Alphabet``, and which variant of it.
///
/// A test is a list of choices; generating, replaying and shrinking edit that list. Choices are ordered by the
/// place of the act in the alphabet, then by the variant: simpler ones come first.
public struct Choice: Hashable, Comparable, Sendable {
  /// The number of the act in the alphabet; for a stimulus, its number in the ``Vocabulary``.
  public var act: UInt16
  /// The number of the variant, the simplest first.
  public var variant: UInt16
  /// Whether the stimulus is one that no possible state allows, and that the device must not obey.
  ///
  /// A replay that comes to another state leaves out a choice that is no longer what it was meant to be.
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

  /// What choices are ordered by.
  @inlinable var rank: UInt64 {
    UInt64(act) << 17 | UInt64(variant) << 1 | (isForbidden ? 1 : 0)
  }
}

/// A test as a list of choices: a start of the machine, and what is done from there.
public struct TestCase: Hashable, Sendable {
  /// The number of the start among those of the machine.
  public var start: Int
  /// What is done, in order.
  public var choices: [Choice]

  /// Makes a test.
  public init(start: Int, _ choices: [Choice] = []) {
    self.start = start
    self.choices = choices
  }
}

extension TestCase: Comparable {
  /// Shortlex: the shorter test comes first, and of two of one length the one with the simpler first difference.
  public static func < (left: TestCase, right: TestCase) -> Bool {
    guard left.choices.count == right.choices.count else { return left.choices.count < right.choices.count }
    for (first, second) in zip(left.choices, right.choices) where first != second { return first < second }
    return left.start < right.start
  }
}
