public import Automata

extension Machine {
  /// What some options say of a device: the choices of which it has shown something, with the options that are left.
  public func shown(in options: UInt64) -> [DeviceChoice] {
    zip(definition.choices, choices).compactMap { choice, mask in
      let left = options & mask
      return left == 0 || left == mask ? nil : DeviceChoice(choice.name, names(of: left))
    }
  }

  /// The options that a device may have that is held to some of them, by name.
  public func options(heldTo names: [String]) -> UInt64 {
    let named = options.indices.filter { names.contains(options[$0]) }
      .reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    return choices.reduce(0) { $0 | ($1 & named == 0 ? $1 : $1 & named) }
  }

  /// The options that are left of those that a device is held to, once it has shown some.
  public func narrowed(_ held: UInt64, by shown: UInt64) -> UInt64 {
    choices.reduce(0) { $0 | (held & shown & $1 == 0 ? held & $1 : held & shown & $1) }
  }

  /// The first choice of which a device has shown no option that it is held to.
  func contradiction(of shown: UInt64, to held: UInt64) -> Divergence.Contradiction? {
    for (choice, mask) in zip(definition.choices, choices) where shown & mask != 0 && shown & held & mask == 0
    {
      return Divergence.Contradiction(
        of: DeviceChoice(choice.name, names(of: held & mask)), shown: names(of: shown & mask))
    }
    return nil
  }

  private func names(of mask: UInt64) -> [String] {
    options.indices.filter { mask >> UInt64($0) & 1 == 1 }.map { options[$0] }
  }
}
