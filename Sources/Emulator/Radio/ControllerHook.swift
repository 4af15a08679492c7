public import Bluetooth
public import Basics

/// A fault of a controller, or of the way to it: what happens to the n-th packet of a kind.
///
/// Hooks act between the controller and its host, before a command is looked at and after an event was made,
/// so that whatever they do the controller itself stays within the rules. They are set with
/// ``Radio/setHooks(_:of:)``; several act one after the other, in their order, on what the one before left.
public struct ControllerHook: Hashable, Sendable {
  /// The packets that a hook counts.
  public enum Subject: Hashable, Sendable {
    /// Commands of this opcode.
    case command(UInt16)
    /// Commands of any opcode.
    case anyCommand
    /// Command Complete and Command Status for this opcode.
    case answer(UInt16)
    /// Events of this code.
    case event(UInt8)
    /// LE Meta events of this subevent code.
    case leEvent(UInt8)
    /// Data on its way to the controller.
    case dataFromHost
    /// Data on its way to the host.
    case dataToHost
    /// Whatever the controller sends.
    case anythingToHost
  }

  /// What happens to a packet.
  public enum Effect: Hashable, Sendable {
    /// It is lost.
    case drop
    /// It arrives twice.
    case duplicate
    /// It arrives later; those behind it overtake it.
    case delay(Interval)
    /// Something else arrives in its place.
    case replace(HCIPacket)
    /// A byte of its parameters or data is another; nothing happens if it has none there.
    case setByte(at: Int, to: UInt8)
    /// Its parameters or data end after so many bytes.
    case truncate(to: Int)
    /// A command is not carried out, but answered with this error. On anything else it does nothing.
    case refuse(HCIErrorCode)
    /// The host gets something else before: an event that nothing caused, or nonsense.
    case precede(HCIPacket)
    /// It is lost, and everything after it, either way, until the power was off.
    case silence
  }

  /// The packets it counts.
  public var subject: Subject
  /// What happens to those it means.
  public var effect: Effect
  /// Which of them is the first that it means, from 1.
  public var first: Int
  /// How many in a row it means; `nil` for all.
  public var count: Int?

  /// Makes a hook; without more it means the next packet of its subject and no other.
  public init(_ subject: Subject, _ effect: Effect, first: Int = 1, count: Int? = 1) {
    precondition(first >= 1 && count ?? 1 >= 1, "a hook means at least one packet, and counts from 1")
    self.subject = subject
    self.effect = effect
    self.first = first
    self.count = count
  }
}

/// Which way a packet goes between a host and its controller.
public enum HCIDirection: Hashable, Sendable {
  case fromHost
  case toHost
}

/// What becomes of a packet that a closure looked at.
public enum HookVerdict: Hashable, Sendable {
  /// It goes on, as the closure left it.
  case pass
  /// It is lost.
  case drop
  /// It arrives twice.
  case duplicate
  /// It arrives later; those behind it overtake it.
  case delay(Interval)
  /// A command is not carried out, but answered with this error; anything else goes on.
  case refuse(HCIErrorCode)
  /// It is lost, and everything after it, either way, until the power was off.
  case silence
}

/// Looks at every packet between a host and its controller, may change it, and decides what becomes of it.
///
/// It sees what the declared hooks left. To stay deterministic it decides by the packet and its number alone:
/// how many packets went that way before it.
public typealias HookClosure =
  @Sendable (_ packet: inout HCIPacket, _ direction: HCIDirection, _ number: Int) -> HookVerdict

/// The hooks of one controller and how far they have counted.
struct Hooks: Sendable {
  private struct Armed: Sendable {
    var hook: ControllerHook
    var seen = 0

    /// Whether the hook means the next packet of its subject, which is counted.
    mutating func isDue() -> Bool {
      seen += 1
      guard seen >= hook.first else { return false }
      guard let count = hook.count else { return true }
      return seen - hook.first < count
    }
  }

  private var armed: [Armed] = []
  private var closure: HookClosure?
  private var passed: (fromHost: Int, toHost: Int) = (0, 0)
  var isSilent = false
  /// Whether a packet must be looked at.
  private(set) var isActive = false

  init() {}

  mutating func set(_ hooks: [ControllerHook]) {
    armed = hooks.map { Armed(hook: $0) }
    isActive = !armed.isEmpty || closure != nil || isSilent
  }

  mutating func set(_ closure: HookClosure?) {
    self.closure = closure
    isActive = !armed.isEmpty || closure != nil || isSilent
  }

  mutating func powerOff() {
    isSilent = false
    isActive = !armed.isEmpty || closure != nil
  }

  /// Lets all hooks act on a packet; what must reach the host before it is appended to `before`.
  mutating func judge(
    _ packet: inout HCIPacket, _ direction: HCIDirection, before: inout [HCIPacket]
  ) -> HookVerdict {
    guard !isSilent else { return .drop }
    var verdict = HookVerdict.pass
    for index in armed.indices
    where armed[index].hook.subject.covers(packet, direction) && armed[index].isDue() {
      switch armed[index].hook.effect.apply(to: &packet, before: &before) {
      case .pass: break
      case let other: verdict = other
      }
    }
    if let closure {
      let number = direction == .fromHost ? passed.fromHost : passed.toHost
      switch closure(&packet, direction, number) {
      case .pass: break
      case let other: verdict = other
      }
    }
    switch direction {
    case .fromHost: passed.fromHost += 1
    case .toHost: passed.toHost += 1
    }
    if verdict == .silence { isSilent = true }
    return verdict
  }
}

extension ControllerHook.Subject {
  fileprivate func covers(_ packet: HCIPacket, _ direction: HCIDirection) -> Bool {
    switch (self, packet, direction) {
    case (.command(let wanted), .command(let opcode, _), .fromHost): wanted == opcode
    case (.anyCommand, .command, .fromHost): true
    case (.answer(let wanted), .event(0x0E, let parameters), .toHost): wanted == opcode(parameters, at: 1)
    case (.answer(let wanted), .event(0x0F, let parameters), .toHost): wanted == opcode(parameters, at: 2)
    case (.event(let wanted), .event(let code, _), .toHost): wanted == code
    case (.leEvent(let wanted), .event(0x3E, let parameters), .toHost): wanted == parameters.first
    case (.dataFromHost, .acl, .fromHost), (.dataToHost, .acl, .toHost), (.anythingToHost, _, .toHost): true
    case (.command, _, _), (.anyCommand, _, _), (.answer, _, _), (.event, _, _), (.leEvent, _, _),
      (.dataFromHost, _, _), (.dataToHost, _, _), (.anythingToHost, _, _):
      false
    }
  }

  private func opcode(_ parameters: [UInt8], at offset: Int) -> UInt16? {
    guard parameters.count >= offset + 2 else { return nil }
    return UInt16(parameters[offset]) | UInt16(parameters[offset + 1]) << 8
  }
}

extension ControllerHook.Effect {
  fileprivate func apply(to packet: inout HCIPacket, before: inout [HCIPacket]) -> HookVerdict {
    switch self {
    case .drop: return .drop
    case .duplicate: return .duplicate
    case .delay(let time): return .delay(time)
    case .refuse(let code): return .refuse(code)
    case .silence: return .silence
    case .replace(let other): packet = other
    case .precede(let other): before.append(other)
    case .setByte(let offset, let byte):
      packet.changeBytes { if $0.indices.contains(offset) { $0[offset] = byte } }
    case .truncate(let length):
      packet.changeBytes { $0.removeLast(max(0, $0.count - max(0, length))) }
    }
    return .pass
  }
}

extension HCIPacket {
  /// Changes the parameters or the data.
  fileprivate mutating func changeBytes(_ change: (inout [UInt8]) -> Void) {
    switch self {
    case .command(let opcode, var parameters):
      change(&parameters)
      self = .command(opcode: opcode, parameters: parameters)
    case .acl(var packet):
      change(&packet.data)
      self = .acl(packet)
    case .synchronous(var bytes):
      change(&bytes)
      self = .synchronous(bytes)
    case .event(let code, var parameters):
      change(&parameters)
      self = .event(code: code, parameters: parameters)
    case .isochronous(var bytes):
      change(&bytes)
      self = .isochronous(bytes)
    }
  }
}
