import Basics
import TestSupport
import Testing

@Suite("The seeded generator")
struct SeededGeneratorTests {
  // From an implementation of xoshiro256** and SplitMix64 in another language.
  static let streams: [(UInt64, [UInt64])] = [
    (0, [0x99EC_5F36_CB75_F2B4, 0xBF6E_1F78_4956_452A, 0x1A5F_849D_4933_E6E0, 0x6AA5_94F1_262D_2D2C]),
    (42, [0x1578_0B2E_0C2E_C716, 0x6104_D986_6D11_3A7E, 0xAE17_5332_39E4_99A1, 0xECB8_AD47_03B3_60A1]),
    (.max, [0x8F55_20D5_2A7E_AD08, 0xC476_A018_CAA1_802D, 0x81DE_31C0_D260_469E, 0xBF65_8D7E_065F_3C2F]),
  ]

  @Test("a seed gives the stream of xoshiro256** seeded by SplitMix64", arguments: streams)
  func stream(seed: UInt64, words: [UInt64]) {
    var generator = SeededGenerator(seed: seed)
    expect(words.map { _ in generator.next() }, words)
  }

  @Test("a named part has a stream of its own, the same on every machine")
  func parts() {
    var radio = SeededGenerator(seed: 42, for: "radio")
    expect(
      [radio.next(), radio.next(), radio.next()],
      [0x8D8F_4C62_9240_F062, 0xCA88_00E5_539E_359C, 0x9517_4D72_0C71_0727])
    var lock = SeededGenerator(seed: 42, for: "lock")
    #expect(lock.next() != 0x8D8F_4C62_9240_F062)
  }

  @Test("bytes are the words in little-endian order, and a draw below a bound takes their upper half")
  func derived() {
    var generator = SeededGenerator(seed: 42)
    expect(generator.bytes(11), [22, 199, 46, 12, 46, 11, 120, 21, 126, 58, 17])
    expect(generator.bytes(0), [])
    generator = SeededGenerator(seed: 42)
    expect((0..<10).map { _ in generator.below(6) }, [0, 2, 4, 5, 5, 4, 4, 5, 4, 3])
  }

  @Test("every value below a bound turns up about equally often")
  func uniformity() {
    var generator = SeededGenerator(seed: 3)
    var counts = [Int](repeating: 0, count: 7)
    for _ in 0..<70_000 { counts[generator.below(7)] += 1 }
    // Five standard deviations of a binomial count: 5 · √(70 000 · 1/7 · 6/7) ≈ 463.
    #expect(counts.allSatisfy { abs($0 - 10_000) < 463 }, "\(counts)")
  }

  @Test("waiting times have the average and the tails of an exponential distribution")
  func waiting() {
    var generator = SeededGenerator(seed: 7)
    let times = (0..<100_000).map { _ in generator.waiting(average: .seconds(1)).seconds }
    // Five standard deviations: of the mean 1 / √100 000, of each count √(p · (1 − p) · 100 000).
    #expect(abs(times.reduce(0, +) / 100_000 - 1) < 0.016)
    for (limit, share) in [(0.1, 0.904837), (0.5, 0.606531), (1, 0.367879), (2, 0.135335), (5, 0.006738)] {
      let count = Double(times.filter { $0 > limit }.count)
      #expect(abs(count - share * 100_000) < 5 * (share * (1 - share) * 100_000).squareRoot(), "\(limit)")
    }
    expect(generator.waiting(average: .zero), .zero)
  }

  @Test("the smallest and the largest bound hold")
  func bounds() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<100 {
      expect(generator.below(1), 0)
      let large = generator.below(Int(UInt32.max))
      #expect(large >= 0 && large < Int(UInt32.max))
    }
  }

  @Test("a bound of nothing is the caller's mistake", arguments: [0, -1])
  func badBound(bound: Int) async {
    await #expect(processExitsWith: .failure) { [bound] in
      var generator = SeededGenerator(seed: 1)
      _ = generator.below(bound)
    }
  }
}
