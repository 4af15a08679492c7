@testable import Controllers
import Bluetooth
import Basics
import TestSupport
import Testing

/// A kind of advertisement to host 0, and what hosts 0 (which scans actively) and 2 (which scans passively)
/// hear.
struct AdvertisementCase: Sendable, CustomTestStringConvertible {
  var kind: AdvertisingParameters.Kind
  var heard: [String]

  var testDescription: String { "\(kind)" }
}

private let kindCases: [AdvertisementCase] = [
  .init(
    kind: .connectable,
    heard: [
      "0 report connectable c0:00:00:00:00:a1 020a01 -60",
      "2 report connectable c0:00:00:00:00:a1 020a01 -60",
      "0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
    ]),
  .init(
    kind: .scannable,
    heard: [
      "0 report scannable c0:00:00:00:00:a1 020a01 -60", "2 report scannable c0:00:00:00:00:a1 020a01 -60",
      "0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
    ]),
  .init(
    kind: .nonconnectable,
    heard: [
      "0 report nonconnectable c0:00:00:00:00:a1 020a01 -60",
      "2 report nonconnectable c0:00:00:00:00:a1 020a01 -60",
    ]),
  .init(kind: .directedLowDuty, heard: ["0 report directed c0:00:00:00:00:a1  -60"]),
  .init(kind: .directedHighDuty, heard: ["0 report directed c0:00:00:00:00:a1  -60"]),
]

@Suite("advertising and scanning on the radio")
struct RadioScanTests {
  @Test("an active scanner that filters duplicates hears an advertisement and its scan response once")
  func once() {
    var bench = RadioBench()
    bench.advertise(1)
    bench.scan(0)
    // An advertisement of 9 bytes takes 152 µs; the response comes 150 + 176 + 150 + 152 µs later.
    expect(
      bench.pass(.seconds(60)),
      [
        "0.004572 0 report connectable c0:00:00:00:00:a1 020a01 -60",
        "0.0052 0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
      ])
  }

  @Test("without filtering everything is reported, each in its turn and at its time")
  func everything() {
    var bench = RadioBench()
    bench.advertise(1)
    bench.scan(0, filterDuplicates: false)
    // Twice within one event when the scanner changes its channel between two packets, at 110 ms.
    expect(
      bench.pass(.milliseconds(250)),
      [
        "0.004572 0 report connectable c0:00:00:00:00:a1 020a01 -60",
        "0.0052 0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
        "0.109297 0 report connectable c0:00:00:00:00:a1 020a01 -60",
        "0.109925 0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
        "0.110227 0 report connectable c0:00:00:00:00:a1 020a01 -60",
        "0.110855 0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
        "0.216019 0 report connectable c0:00:00:00:00:a1 020a01 -60",
        "0.216647 0 report scanResponse c0:00:00:00:00:a1 020b01 -60",
      ])
  }

  @Test("says what kind it is, and only to those whom it concerns", arguments: kindCases)
  func kinds(_ test: AdvertisementCase) {
    var bench = RadioBench(3)
    bench.advertise(1, AdvertisingParameters(kind: test.kind, peer: RadioBench.address(0)))
    bench.scan(0)
    bench.scan(2, ScanParameters(isActive: false))
    expect(bench.pass(.seconds(1)).map(RadioBench.what), test.heard)
  }

  @Test(
    "at the high duty cycle it is there every 3.75 ms for 1.28 s, and then the host hears that nobody came")
  func highDuty() {
    var bench = RadioBench(2)
    bench.advertise(
      1, AdvertisingParameters(kind: .directedHighDuty, peer: RadioBench.address(0), channels: 0b001))
    bench.scan(0, ScanParameters(interval: 0x4000, window: 0x4000), filterDuplicates: false)
    let heard = bench.pass(.seconds(3))
    let times = (0..<342).map { (Instant.zero + .microseconds(176 + Int64($0) * 3750)).secondsText }
    expect(
      heard,
      times.map { "\($0) 0 report directed c0:00:00:00:00:a1  -60" } + ["1.280 1 not connected peripheral 3c"]
    )
  }

  @Test("a scanner hears only in its windows, on one channel after the other")
  func windows() {
    var bench = RadioBench(2)
    bench.advertise(1, AdvertisingParameters(minimumInterval: 0x20, maximumInterval: 0x20, channels: 0b100))
    bench.scan(
      0, ScanParameters(isActive: false, interval: 0x0080, window: 0x0040), filterDuplicates: false)
    let times = bench.pass(.seconds(10)).compactMap { Double($0.split(separator: " ")[0]) }
    // Windows of 40 ms begin every 80 ms; every third is on channel 39.
    let inside = times.filter { time in (time - 0.16).truncatingRemainder(dividingBy: 0.24) < 0.04 }
    expect(inside.count, times.count)
    // 42 windows of 40 ms with an advertisement each 25 ms on average.
    #expect((60...75).contains(times.count), "\(times.count)")
  }

  @Test("accept lists say whom a scanner hears, and whom an advertiser answers")
  func acceptLists() {
    var bench = RadioBench(4)
    bench.order(0, .leAddToFilterAcceptList(RadioBench.address(2)))
    bench.order(2, .leAddToFilterAcceptList(RadioBench.address(3)))
    bench.advertise(1)
    bench.advertise(2, AdvertisingParameters(filterPolicy: 1))
    bench.scan(0, ScanParameters(filterPolicy: 1))
    bench.scan(3)
    expect(
      bench.pass(.seconds(1)).map(RadioBench.what),
      [
        "3 report connectable c0:00:00:00:00:a1 020a01 -60",
        "3 report scanResponse c0:00:00:00:00:a1 020b01 -60",
        "0 report connectable c0:00:00:00:00:a2 020a02 -60",
        "3 report connectable c0:00:00:00:00:a2 020a02 -60",
        "3 report scanResponse c0:00:00:00:00:a2 020b02 -60",
      ])
  }

  @Test("an advertiser is new to a scanner that begins anew, or when it has another address, not other data")
  func duplicates() {
    var bench = RadioBench(2)
    bench.advertise(1)
    bench.scan(0, ScanParameters(isActive: false))
    expect(
      bench.pass(.seconds(1)).map(RadioBench.what), ["0 report connectable c0:00:00:00:00:a1 020a01 -60"])
    bench.order(1, .leSetAdvertisingData([1, 2, 3]))
    expect(bench.pass(.seconds(1)), [])
    bench.order(0, .leSetScanEnable(true, true))
    expect(
      bench.pass(.seconds(1)).map(RadioBench.what), ["0 report connectable c0:00:00:00:00:a1 010203 -60"])
    bench.order(1, .leSetAdvertisingEnable(false))
    bench.order(1, .leSetRandomAddress(.staticRandom(0xBB)))
    bench.order(1, .leSetAdvertisingEnable(true))
    expect(
      bench.pass(.seconds(1)).map(RadioBench.what), ["0 report connectable c0:00:00:00:00:bb 010203 -60"])
  }

  @Test(
    "a scan response is heard by the one who asked for it, and not by a scanner that has begun anew since")
  func begunAnew() {
    var bench = RadioBench(2)
    bench.advertise(1)
    bench.scan(0, filterDuplicates: false)
    let advertisement = "0 report connectable c0:00:00:00:00:a1 020a01 -60"
    let response = "0 report scanResponse c0:00:00:00:00:a1 020b01 -60"
    expect(bench.pass(.microseconds(4_572)).map(RadioBench.what), [advertisement])
    bench.order(0, .leSetScanEnable(false, false))
    bench.order(0, .leSetScanEnable(true, false))
    expect(bench.pass(.milliseconds(1)), [])
    expect(bench.pass(.milliseconds(150)).map(RadioBench.what).prefix(2), [advertisement, response])
  }

  @Test("what is out of reach or without power is not heard, and is heard again later")
  func reach() {
    var bench = RadioBench(2, RadioSettings(pathLoss: 75, fading: 2), ControllerSettings(transmitPower: 4))
    bench.advertise(1)
    bench.scan(0, ScanParameters(isActive: false), filterDuplicates: false)
    bench.radio.setReachable(ControllerID(rawValue: 1), false, at: bench.now)
    expect(bench.pass(.seconds(3)), [])
    bench.radio.setReachable(ControllerID(rawValue: 1), true, at: bench.now)
    let strengths = bench.pass(.seconds(20)).compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    expect(Set(strengths), [-73, -72, -71, -70, -69])
    bench.radio.setPower(ControllerID(rawValue: 1), false, at: bench.now)
    expect(bench.pass(.seconds(3)), [])
    bench.radio.setPower(ControllerID(rawValue: 1), true, at: bench.now)
    expect(bench.pass(.seconds(3)), [])
    bench.setUp(1)
    bench.advertise(1)
    #expect(bench.pass(.milliseconds(300)).count >= 2)
  }

  @Test("a lost advertisement is not reported: half of them at a loss of one half")
  func loss() {
    var bench = RadioBench(2, RadioSettings(packetLoss: 0.5))
    bench.advertise(1)
    bench.scan(0, ScanParameters(isActive: false), filterDuplicates: false)
    let count = bench.pass(.seconds(100)).count
    // About 100 / 0.105 events, of which half are heard; the standard deviation is 15.
    #expect((420...540).contains(count), "\(count)")
  }

  @Test(
    "what is heard again and again can be passed over but for the last time, and nothing else changes",
    arguments: [0, 0.05, 0.5])
  func repetitions(_ loss: Double) {
    for seed in 0..<10 as Range<UInt64> {
      let whole = listen(loss, seed: seed, skipping: false)
      let short = listen(loss, seed: seed, skipping: true)
      for (whole, short) in zip(whole, short) {
        // Passed over is what was told before.
        expect(short.filter { !whole.contains($0) }, [])
        // From the last advertisement with its scan response on everything is there.
        let last = whole.lastIndex { $0.contains("scanResponse") }.map { max(0, $0 - 1) } ?? 0
        expect(Array(short.suffix(whole.count - last)), Array(whole[last...]))
      }
      #expect(whole.joined().count > 200)
      #expect(short.joined().count < 80 + Int(200 * loss), "\(short.joined().count)")
    }
  }

  /// What is heard of one advertiser in a while of each length, with what may happen to it in between.
  private func listen(_ loss: Double, seed: UInt64, skipping: Bool) -> [[String]] {
    var bench = RadioBench(4, RadioSettings(packetLoss: loss), seed: seed)
    bench.skipsRepetitions = skipping
    bench.advertise(1)
    bench.scan(0, filterDuplicates: false)
    let spans = [1, 10, 150, 99, 3000, 20_000, 7, 7000].map { Interval.milliseconds($0) }
    var heard = spans.map { bench.pass($0) }
    // Other data, another scanner, nobody in reach, and a link at last.
    bench.order(1, .leSetAdvertisingData([3, 0x0A, 7, 7]))
    heard += [bench.pass(.milliseconds(300)), bench.pass(.seconds(5))]
    bench.scan(2, ScanParameters(isActive: false))
    heard += [bench.pass(.milliseconds(300)), bench.pass(.seconds(2))]
    bench.order(2, .leSetScanEnable(false, true))
    bench.radio.setReachable(ControllerID(rawValue: 1), false, at: bench.now)
    heard.append(bench.pass(.seconds(5)))
    bench.radio.setReachable(ControllerID(rawValue: 1), true, at: bench.now)
    heard.append(bench.pass(.seconds(5)))
    bench.order(3, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
    heard.append(bench.pass(.seconds(5)))
    return heard
  }
}
