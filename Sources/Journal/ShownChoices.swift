/// The options that devices have shown of choices that each makes once, in the order of the plan.
///
/// A case shows an option if no other option explains its observations. A device must keep to what it showed first.
public struct ShownChoices: Hashable, Sendable {
  /// What one device has shown of one choice.
  public struct Known: Hashable, Sendable {
    /// The device, including its options.
    public var device: String
    /// The machine that has the choice.
    public var machine: String
    /// The choice, with the options that remain possible.
    public var shown: Record.ShownChoice
    /// The last case that narrowed the options.
    public var id: String
  }

  /// All choices, in the order in which they were first shown.
  public private(set) var all: [Known] = []

  /// Creates an empty collection.
  public init() {}

  /// Adds the options that a case showed.
  ///
  /// - Returns: The known and the shown options if they contradict each other; the case then changes nothing.
  public mutating func take(
    _ shown: [Record.ShownChoice], of test: Record.Case
  ) -> (held: Known, shown: Record.ShownChoice)? {
    for item in shown {
      guard let place = place(of: item, test), left(item, of: all[place]).isEmpty else { continue }
      return (all[place], item)
    }
    for item in shown {
      guard let place = place(of: item, test) else {
        all.append(
          Known(device: test.device ?? "", machine: test.machine ?? "", shown: item, id: test.id))
        continue
      }
      let left = left(item, of: all[place])
      if left.count < all[place].shown.options.count { all[place].id = test.id }
      all[place].shown.options = left
    }
    return nil
  }

  /// Adds the options that other runs showed; ignores those that contradict known ones.
  public mutating func take(_ others: ShownChoices) {
    for item in others.all {
      var test = Record.Case(id: item.id)
      (test.device, test.machine) = (item.device, item.machine)
      _ = take([item.shown], of: test)
    }
  }

  private func place(of item: Record.ShownChoice, _ test: Record.Case) -> Int? {
    all.firstIndex {
      $0.device == test.device ?? "" && $0.machine == test.machine ?? "" && $0.shown.choice == item.choice
    }
  }

  private func left(_ item: Record.ShownChoice, of known: Known) -> [String] {
    known.shown.options.filter(item.options.contains)
  }
}

extension ShownChoices.Known: CustomStringConvertible {
  /// One line for people: `emulator:sesame5: autolock-start is at-once, as shown in sesame5/autolock`.
  public var description: String { "\(device): \(shown), as shown in \(id)" }
}

extension Record {
  /// The options that a case has shown of a choice that a device makes once.
  public struct ShownChoice: Hashable, Sendable, CustomStringConvertible {
    /// The choice.
    public var choice: String
    /// The options that explain what the device showed.
    public var options: [String]

    /// Creates a shown choice.
    public init(_ choice: String, _ options: [String]) { (self.choice, self.options) = (choice, options) }

    /// One line for people: `autolock-start is at-once`.
    public var description: String { "\(choice) is \(options.joined(separator: " or "))" }
  }
}

extension Record.ShownChoice: Recorded {
  public static let blank = Record.ShownChoice("", [])
  public static let noun = "a shown choice"
  public static let fields: [Field<Self>] = [
    .needed("choice", \.choice, .text), .needed("options", \.options, .list(.text)),
  ]
}
