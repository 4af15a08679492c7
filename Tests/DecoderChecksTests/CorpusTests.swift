import DecoderChecks
import Foundation
import Testing

/// The inputs that fuzzing begins with, and those that it once found something with.
@Suite struct CorpusTests {
  private static let folder = Bundle.module.bundleURL.appending(path: "Corpus")

  @Test("decoders refuse or understand every input of the corpus", arguments: DecoderCheck.allCases)
  func replay(decoder: DecoderCheck) throws {
    let folder = Self.folder.appending(path: decoder.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names.count >= 10, "the corpus of \(decoder.rawValue) is gone")
    for name in names {
      do {
        try decoder.run(on: [UInt8](try Data(contentsOf: folder.appending(path: name))))
      } catch {
        Issue.record("\(decoder.rawValue)/\(name): \(error)")
      }
    }
  }
}
