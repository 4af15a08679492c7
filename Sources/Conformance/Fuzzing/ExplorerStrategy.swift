extension Explorer {
  /// What tests are drawn by. Each can be left out, to measure what it is worth.
  public enum Strategy: String, CaseIterable, Sendable {
    case novelty, memory, depth, repetition, trying, swarm, rareTests, asides, refusals, firstRefusals, waits,
      edges, halts, impatience
    case sparing, dwelling, doubts, listening, themes, variants, probes, kinds, disturbances, silences,
      hearing, setOtherwise, asidesAgain, telling, shares, ease, news, wearing, thrift
  }

  @inline(__always)
  func uses(_ strategy: Strategy) -> Bool { settings.without != strategy }

  /// Takes out of a test what it is to be drawn without.
  mutating func leaveOut() {
    switch settings.without {
    case nil: break
    case .novelty: plan.chance = 1
    case .memory: plan.remembers = false
    case .depth: plan.depth = 4
    case .repetition: plan.repeats = false
    case .swarm: if plan.swarms { (plan.swarms, plan.chance) = (false, 0.1) }
    case .asides: plan.asides = 0
    case .refusals, .firstRefusals: plan.refusals = settings.without == .refusals ? 0 : plan.refusals
    case .waits: plan.waits = 0
    case .edges: plan.edges = 0
    case .halts: plan.halts = 0
    case .impatience: plan.patience = 1
    case .sparing: plan.rests = false
    case .dwelling: plan.dwells = false
    case .doubts: plan.doubts = 0
    case .listening: plan.listens = 0
    case .themes: (palette.theme, palette.movers) = (0, 0)
    case .variants: for act in palette.variants.indices { palette.variants[act] = -1 }
    case .probes: plan.probes = 0
    case .kinds: palette.disturbances = []
    case .disturbances: plan.disturbances = 0
    default: break
    }
  }
}
