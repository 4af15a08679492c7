import Conformance
import TestSupport
import Testing

@Suite("How sure a finding is")
struct ConfirmationTests {
  @Test(
    "k of n, with how much likelier a defect is than chance",
    arguments: [
      ("", "not tried again", "1", false),
      ("1", "flaky, reproduced 1 of 1", "9", false),
      ("11", "flaky, reproduced 2 of 2", "81", false),
      ("111", "reproduced 3 of 3", "729", true),
      ("0", "not reproduced, 0 of 1", "1/9", false),
      ("000", "not reproduced, 0 of 3", "1/729", true),
      ("1000", "flaky, reproduced 1 of 4", "1/81", false),
      ("0101", "flaky, reproduced 2 of 4", "1", false),
      ("01111", "reproduced 4 of 5", "729", true),
      ("1-1-1", "reproduced 3 of 3, 2 disturbed", "729", true),
    ])
  func verdicts(runs: String, text: String, ratio: String, isDecided: Bool) {
    var confirmation = Confirmation()
    for run in runs {
      if run == "-" { confirmation.countDisturbed() } else { confirmation.count(isShown: run == "1") }
    }
    expect("\(confirmation)", text)
    expect(confirmation.weight, "likelihood ratio \(ratio)")
    expect(confirmation.isDecided, isDecided)
  }
}
