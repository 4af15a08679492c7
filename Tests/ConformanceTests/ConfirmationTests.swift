import Conformance
import TestSupport
import Testing

@Suite("How sure a finding is")
struct ConfirmationTests {
  @Test(
    "k of n, with how much likelier a defect is than chance",
    arguments: [
      ("", "not tried again", false),
      ("1", "flaky, 1 of 1 (likelihood ratio 9)", false),
      ("11", "flaky, 2 of 2 (likelihood ratio 81)", false),
      ("111", "confirmed, 3 of 3 (likelihood ratio 729)", true),
      ("0", "not reproduced, 0 of 1 (likelihood ratio 1/9)", false),
      ("000", "not reproduced, 0 of 3 (likelihood ratio 1/729)", true),
      ("1000", "flaky, 1 of 4 (likelihood ratio 1/81)", false),
      ("0101", "flaky, 2 of 4 (likelihood ratio 1)", false),
      ("01111", "confirmed, 4 of 5 (likelihood ratio 729)", true),
      ("1-1-1", "confirmed, 3 of 3, 2 disturbed (likelihood ratio 729)", true),
    ])
  func verdicts(runs: String, text: String, isDecided: Bool) {
    var confirmation = Confirmation()
    for run in runs {
      if run == "-" { confirmation.countDisturbed() } else { confirmation.count(isShown: run == "1") }
    }
    expect("\(confirmation)", text)
    expect(confirmation.isDecided, isDecided)
  }
}
