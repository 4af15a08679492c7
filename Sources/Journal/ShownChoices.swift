/// What devices have shown of the choices that each of them makes once, case after case in the order of the plan.
///
/// A case shows an option where the others do not explain it. A device is held to what it showed first.
public struct ShownChoices: Hashable, Sendable {
  /// What one device has shown of one choice.
  public struct Known: Hashable, Sendable {
    /// The device, with its options.
    public var device: String
    /// The machine that has the choice.
    public var machine: String
    /// The choice, with the options that are left.
    public var shown: Record.ShownChoice
    /// The case that showed it last.
    public var id: String
  }

  /// All of it, in the order in which it was first shown.
  public private(set) var all: [Known] = []

  /// Nothing was shown yet.
  public init() {}

  /// Receives what a case showed.
  ///
  /// - Returns: what was known before, where that is something else: then this case changes nothing.
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

  /// Receives what other runs showed. What contradicts what is known changes nothing.
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
  /// What a case has shown of a choice that a device makes once.
  public struct ShownChoice: Hashable, Sendable, CustomStringConvertible {
    /// The choice.
    public var choice: String
    /// The options that explain what was shown.
    public var options: [String]

    /// Says what was shown.
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
