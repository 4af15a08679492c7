import Glibc

/// The geometric mean of ratios, all above zero.
func geometricMean(_ ratios: [Double]) -> Double {
  exp(ratios.map { log($0) }.reduce(0, +) / Double(ratios.count))
}
