import Bluetooth
import Sesame
import TestSupport
import Testing

@Suite struct IdentityTests {
  /// The vendor's table of products.
  // swift-format-ignore
  static let products: [(UInt8, String, Generation?)] = [
    (0, "Sesame 3", .os2), (1, "WiFi Module 2", nil), (2, "Bot 1", .os2),
    (3, "Bike 1", .os2), (4, "Sesame 4", .os2), (5, "Sesame 5", .os3),
    (6, "Bike 2", .os3), (7, "Sesame 5 Pro", .os3),
    (8, "Open Sensor", .os3), (9, "Touch Pro", .os3), (10, "Touch", .os3),
    (11, "BLE Connector", .os3), (13, "Hub 3", .os3), (14, "Remote", .os3),
    (15, "Remote Nano", .os3), (16, "Sesame 5 US", .os3), (17, "Bot 2", .os3),
    (18, "Face Pro", .os3), (19, "Face", .os3), (20, "Sesame 6", .os3),
    (21, "Sesame 6 Pro", .os3), (22, "Face Pro AI", .os3), (23, "Face AI", .os3),
    (24, "Open Sensor 2", .os3), (25, "Touch 2", .os3), (26, "Touch 2 Pro", .os3), (27, "Face 2", .os3),
    (28, "Face 2 Pro", .os3), (29, "Miwa", .os3), (30, "Face 2 AI", .os3), (31, "Face 2 Pro AI", .os3),
    (32, "Sesame 6 Pro sliding door", .os3), (33, "Bike 3", .os3), (35, "Bot 3", .os3),
    (36, "Hub 3 LTE", .os3),
  ]

  @Test("the products have the vendor's numbers, names and generations")
  func models() {
    expect(ProductModel.allCases.map(\.rawValue), Self.products.map(\.0))
    expect(ProductModel.allCases.map(\.description), Self.products.map(\.1))
    expect(ProductModel.allCases.map(\.generation), Self.products.map(\.2))
  }

  @Test("the service and its characteristics have the vendor's UUIDs")
  func service() {
    expect(
      [SesameService.service, SesameService.write, SesameService.notify].map(\.description),
      ["fd81", "16860002-a5ae-9856-b6d3-dbb4c676993e", "16860003-a5ae-9856-b6d3-dbb4c676993e"])
  }

  @Test("an OS2 advertisement without its name, or with a bad one, is refused")
  func names() throws {
    let bytes = try [UInt8](hex: "5a05000001")
    #expect(throws: DecodeError.missing("local name", at: 5)) {
      try Advertisement(manufacturerData: bytes, localName: nil)
    }
    #expect(throws: DecodeError.malformed("base64", at: 3)) {
      try Advertisement(manufacturerData: bytes, localName: "abc!")
    }
    #expect(throws: DecodeError.truncated(at: 3, missing: 13)) {
      try Advertisement(manufacturerData: bytes, localName: "QpGK")
    }
    #expect(throws: DecodeError.missing("manufacturer data")) {
      try Advertisement(AdvertisingData([.flags([.noClassic])]))
    }
  }

  @Test(
    "an advertisement that is cut short says where",
    arguments: [
      ("5a05010001c4e1a2b3d4f5", 11), ("5a05010001c4", 6), ("5a050d01c4e1", 6), ("5a050d", 3), ("5a", 1),
    ])
  func short(text: String, offset: Int) throws {
    let bytes = try [UInt8](hex: text)
    do {
      _ = try Advertisement(manufacturerData: bytes, localName: nil)
      Issue.record("it is read")
    } catch {
      expect(error.offset, offset)
    }
  }

  @Test("advertisements read as words")
  func descriptions() {
    let id = UUID128(high: 0, low: 1)
    expect(
      Advertisement(model: .sesame5, isRegistered: true, hasHistory: true, deviceID: id).description,
      "Sesame 5 \(id), registered, history waiting")
    expect(
      Advertisement(model: .sesame3, isRegistered: false, deviceID: id).description,
      "Sesame 3 \(id), not registered")
  }

  static let key = "BQABAgMEBQYHCAkKCwwNDg%2BhssPUAAABI0VniavN7wEjRWeJq83v"

  @Test("a share key is read whatever the order of its fields, and a plus may have become a space")
  func shareKeys() throws {
    let key = try ShareKey(url: "ssm://UI?t=sk&sk=\(Self.key)&l=2&n=Front%20door")
    expect(key.model, .sesame5)
    expect(key.level, .guest)
    expect(key.name, "Front door")
    expect(key.credential, .os3(Token(word: 0xD4C3_B2A1)))
    expect(try ShareKey(url: "ssm://UI?n=Front%20door&x=1&l=2&sk=\(Self.key)&t=sk"), key)
    expect(try ShareKey(url: key.url.replacing("%2B", with: " ")), key)
    expect(try ShareKey(url: key.url.replacing("%2B", with: "+")), key)
    expect(key.description, "<share key of Sesame 5 01234567-89ab-cdef-0123-456789abcdef>")
    var dumped = ""
    dump(key, to: &dumped)
    #expect(!dumped.contains("secret"))
  }

  @Test(
    "what is no share key is refused with its reason",
    arguments: [
      ("https://example.com", DecodeError.malformed("a share key", at: 0)),
      ("ssm://UI?t=sk&l=0", .missing("field sk", at: 9)),
      ("ssm://UI?t=op&sk=AA&l=0", .missing("type of a share key", at: 9)),
      ("ssm://UI?t=sk&sk=AAAA&l=7", .missing("level of a share key", at: 9)),
      ("ssm://UI?t=sk&sk=A%2&l=0", .malformed("a percent-encoded text", at: 18)),
      ("ssm://UI?t=sk&sk=/w==&l=0", .value(255, of: "product model", at: 0)),
      ("ssm://UI?t=sk&sk=AQ==&l=0", .value(1, of: "product model", at: 0)),
      ("ssm://UI?t=sk&sk=BQAB&l=0", .truncated(at: 3, missing: 14)),
    ])
  func badShareKeys(url: String, error: DecodeError) {
    #expect(throws: error) { try ShareKey(url: url) }
  }
}
