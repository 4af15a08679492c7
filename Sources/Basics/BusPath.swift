/// Returns whether a text is the path of a device on a USB bus: the bus, then ports, as in `1-2.3`.
public func isBusPath(_ text: String) -> Bool {
  let parts = text.split(separator: "-", omittingEmptySubsequences: false)
  guard parts.count == 2, UInt8(parts[0]) != nil, !text.contains("+") else { return false }
  return parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { UInt8($0) != nil }
}
