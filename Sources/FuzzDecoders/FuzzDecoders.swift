import DecoderChecks
import System

/// Which decoders are fed: the environment's `DECODER`, by the name of their folder in the corpus.
private let decoder = DecoderCheck(rawValue: Host.variable("DECODER") ?? "")

/// What libFuzzer calls with each input (`make fuzz-decoders`). A trap is a finding, and so is a notice.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
  let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let decoder else { fatalError("DECODER is one of \(DecoderCheck.allCases.map(\.rawValue))") }
  do {
    try decoder.run(on: bytes)
  } catch {
    fatalError("\(error)")
  }
  return 0
}

#if !FUZZING
/// Without libFuzzer: feeds files, such as a finding, to the decoders.
@main struct Replayer {
  static func main() throws {
    for path in CommandLine.arguments.dropFirst() {
      let bytes = try WholeFile.bytes(of: path)
      _ = unsafe bytes.withUnsafeBytes { unsafe fuzzOne($0.baseAddress, $0.count) }
      print("\(path): passed")
    }
  }
}
#endif
