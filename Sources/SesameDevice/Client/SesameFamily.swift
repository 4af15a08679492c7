public import Conformance
import Sesame

extension LockFamily {
  /// Locks that implement the Sesame protocol, of either generation.
  public static let sesame: LockFamily = {
    do {
      return try LockFamily(
        machine: "sesame",
        stimuli: [
          ("closeTo", .listen), ("connect", .connect), ("register", .register), ("configure", .configure),
          ("lock", .lock), ("unlock", .unlock), ("toggle", .toggle), ("disconnect", .leave),
          ("reset", .reset),
          ("setAutolock", .setAutolock), ("readAutolock", .readAutolock), ("readHistory", .readHistory),
          ("readVersion", nil), ("readStatus", nil), ("setTime", nil), ("forgeLock", .forge),
          ("forgeUnlock", .forge), ("replayCommand", .forge),
        ],
        statuses: [
          ("noSignal", .away), ("receivedBle", .heard), ("connecting", .underWay), ("waitingGatt", .underWay),
          ("logining", .proving), ("readytoRegister", .ownerless), ("registering", .registering),
          ("nosetting", .unset), ("locked", .locked), ("unlocked", .unlocked), ("moved", .moved),
          ("reset", .forgotten),
        ],
        hostileFaults: ["forge", "replay", "shadow", "mutate", "request", "reflect", "att"],
        wrongKey: "wrong-key", misbehaviours: ["wrong-key", "replay-login", "forge", "replay"],
        flaws: ["mutate", "shadow"],
        subjects: [
          ("reset", .reset), ("registration", .register), ("autolock", .configure), ("setting", .configure),
        ], charge: { BatteryTable.current.percent(volts: $0) }, unrequestedMove: "handToMoved")
    } catch {
      preconditionFailure("\(error)")
    }
  }()
}
