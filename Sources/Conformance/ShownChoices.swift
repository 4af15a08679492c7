public import Automata

extension Machine {
  /// Returns the choices about which the device has shown something, each with the options that remain.
  public func shown(in options: UInt64) -> [DeviceChoice] {
    zip(definition.choices, choices).compactMap { choice, mask in
      let left = options & mask
      return left == 0 || left == mask ? nil : DeviceChoice(choice.name, names(of: left))
    }
  }

  /// Returns the options of a device that is bound to some options, by name. A choice without a named option keeps
  /// all.
  public func options(heldTo names: [String]) -> UInt64 {
    let named = options.indices.filter { names.contains(options[$0]) }
      .reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    return choices.reduce(0) { $0 | ($1 & named == 0 ? $1 : $1 & named) }
  }

  /// Returns the options that remain, of those to which a device is bound, after it has shown some. A choice keeps
  /// its bound options if the device contradicts them.
  public func narrowed(_ held: UInt64, by shown: UInt64) -> UInt64 {
    choices.reduce(0) { $0 | (held & shown & $1 == 0 ? held & $1 : held & shown & $1) }
  }

  /// Returns the first choice for which the device has shown only options to which it is not bound.
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
