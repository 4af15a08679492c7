/// A generation of the protocol. Generations differ in message formats, cryptography and registration.
public enum Generation: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// Sesame 3, Sesame 4, Bot 1 and Bike 1.
  case os2 = "OS2"
  /// Sesame 5 and everything after it.
  case os3 = "OS3"

  /// `OS2` or `OS3`.
  public var description: String { rawValue }
}

/// A product, by the number that its advertisement and its share key carry.
public enum ProductModel: UInt8, CaseIterable, Hashable, Sendable {
  // swift-format-ignore
  case sesame3 = 0, wifiModule2, bot1, bike1, sesame4, sesame5, bike2, sesame5Pro, openSensor, touchPro, touch,
    bleConnector
  // swift-format-ignore
  case hub3 = 13, remote, remoteNano, sesame5US, bot2, facePro, face, sesame6, sesame6Pro, faceProAI, faceAI,
    openSensor2, touch2, touch2Pro, face2, face2Pro, miwa, face2AI, face2ProAI, sesame6ProSlidingDoor, bike3
  // swift-format-ignore
  case bot3 = 35, hub3LTE

  /// The kind of product, which determines the layout of its status.
  public enum Kind: Hashable, Sendable {
    /// Turns a thumbturn.
    case lock
    /// Presses a button.
    case bot
    /// Holds a bicycle wheel.
    case bike
    /// Reads cards, fingers, faces or passcodes, and operates locks.
    case reader
    /// Reports whether a door is open.
    case sensor
    /// Operates locks by buttons.
    case remote
    /// Connects devices to a network.
    case hub
  }

  /// The generation of the product; `nil` for WiFi Module 2, which uses neither.
  public var generation: Generation? {
    switch self {
    case .wifiModule2: nil
    case .sesame3, .sesame4, .bot1, .bike1: .os2
    default: .os3
    }
  }

  /// The kind of the product.
  public var kind: Kind {
    switch self {
    case .sesame3, .sesame4, .sesame5, .sesame5Pro, .sesame5US, .sesame6, .sesame6Pro, .sesame6ProSlidingDoor,
      .miwa:
      .lock
    case .bot1, .bot2, .bot3: .bot
    case .bike1, .bike2, .bike3: .bike
    case .openSensor, .openSensor2: .sensor
    case .remote, .remoteNano: .remote
    case .wifiModule2, .bleConnector, .hub3, .hub3LTE: .hub
    case .touch, .touchPro, .touch2, .touch2Pro, .face, .facePro, .faceAI, .faceProAI, .face2, .face2Pro,
      .face2AI, .face2ProAI:
      .reader
    }
  }
}

extension ProductModel: CustomStringConvertible {
  /// The name of the product.
  public var description: String { Self.names[Int(rawValue)] }

  /// The names by number; empty if there is no such model.
  private static let names = [
    "Sesame 3", "WiFi Module 2", "Bot 1", "Bike 1", "Sesame 4", "Sesame 5", "Bike 2", "Sesame 5 Pro",
    "Open Sensor", "Touch Pro", "Touch", "BLE Connector", "", "Hub 3", "Remote", "Remote Nano", "Sesame 5 US",
    "Bot 2", "Face Pro", "Face", "Sesame 6", "Sesame 6 Pro", "Face Pro AI", "Face AI", "Open Sensor 2",
    "Touch 2", "Touch 2 Pro", "Face 2", "Face 2 Pro", "Miwa", "Face 2 AI", "Face 2 Pro AI",
    "Sesame 6 Pro sliding door", "Bike 3", "", "Bot 3", "Hub 3 LTE",
  ]
}
