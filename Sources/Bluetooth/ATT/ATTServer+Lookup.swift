/// Requests that look for attributes, or read several (Core 5.4, Vol 3 Part F §3.4.3, §3.4.4).
extension ATTServer {
  func findInformation(
    in range: AttributeRange, _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    var list = EntryList(capacity: mtu - 2)
    for index in try database.indices(of: range) {
      let uuid = database.attributes[index].type.littleEndian
      guard list.append(AttributeHandle(index: index), uuid[...]) else { break }
    }
    guard let length = list.length else { throw ATTRefusal(.attributeNotFound, range.first) }
    return .findInformationResponse(format: length == 4 ? 1 : 2, list.bytes)
  }

  /// The two spellings of one UUID count as the same value of a service's declaration.
  func findByTypeValue(
    in range: AttributeRange, type: UInt16, value: [UInt8], _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    let type = BluetoothUUID(type)
    let service = type == .primaryService ? try? BluetoothUUID(littleEndian: value) : nil
    let wanted = service?.littleEndian ?? value
    var found: [AttributeRange] = []
    for index in try database.indices(of: range) where database.attributes[index].type == type {
      // An unreadable value must not be guessed either.
      guard let content = try? content(at: index, database), content == wanted else { continue }
      let handle = AttributeHandle(index: index)
      switch database.attributes[index].role {
      case .service(let last), .characteristic(let last): found.append(AttributeRange(handle, last))
      case .value, .configuration: found.append(AttributeRange(handle, handle))
      }
      if found.count == (mtu - 1) / 4 { break }
    }
    guard !found.isEmpty else { throw ATTRefusal(.attributeNotFound, range.first) }
    return .findByTypeValueResponse(found)
  }

  func readByType(
    in range: AttributeRange, type: BluetoothUUID, _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    var list = EntryList(capacity: mtu - 2)
    for index in try database.indices(of: range) where database.attributes[index].type == type {
      do throws(ATTRefusal) {
        let content = try content(at: index, database)
        guard list.append(AttributeHandle(index: index), content.prefix(min(mtu - 4, 253))) else { break }
      } catch {
        // Only the first may refuse for all of them (§3.4.4.1).
        guard list.length != nil else { throw error }
        break
      }
    }
    guard let length = list.length else { throw ATTRefusal(.attributeNotFound, range.first) }
    return .readByTypeResponse(length: UInt8(length), list.bytes)
  }

  func readByGroupType(
    in range: AttributeRange, type: BluetoothUUID, _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    let indices = try database.indices(of: range)
    guard type == .primaryService || type == .secondaryService else {
      throw ATTRefusal(.unsupportedGroupType, range.first)
    }
    var list = EntryList(capacity: mtu - 2)
    for index in indices where database.attributes[index].type == type {
      guard case .service(let last) = database.attributes[index].role else { continue }
      let group = [UInt8(truncatingIfNeeded: last.rawValue), UInt8(truncatingIfNeeded: last.rawValue >> 8)]
      guard list.append(AttributeHandle(index: index), (group + database.attributes[index].value)[...]) else {
        break
      }
    }
    guard let length = list.length else { throw ATTRefusal(.attributeNotFound, range.first) }
    return .readByGroupTypeResponse(length: UInt8(length), list.bytes)
  }
}

/// Entries of equal length, each a handle with data, as long as there is room.
private struct EntryList {
  private(set) var bytes: [UInt8] = []
  /// The length of each entry, once there is one.
  private(set) var length: Int?
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Adds an entry; `false` if its length differs or there is no room, and the list must end here.
  mutating func append(_ handle: AttributeHandle, _ content: ArraySlice<UInt8>) -> Bool {
    let entry = 2 + content.count
    guard entry == length ?? entry, bytes.count + entry <= capacity else { return false }
    length = entry
    bytes.append(littleEndian: handle.rawValue)
    bytes += content
    return true
  }
}
