@testable import System
import Basics
import TestSupport
import Testing

@Suite("The machine that we run on")
struct HostTests {
  static let locales: [(variables: [String: String], isUnicode: Bool)] = [
    ([:], false), (["LANG": "C"], false), (["LANG": "en_US.UTF-8"], true), (["LANG": "C.utf8"], true),
    (["LANG": "de_DE.ISO-8859-1"], false), (["LC_CTYPE": "C.UTF-8", "LANG": "C"], true),
    (["LC_ALL": "POSIX", "LC_CTYPE": "C.UTF-8", "LANG": "C.UTF-8"], false),
    (["LC_ALL": "de_DE.utf-8@euro"], true),
  ]

  @Test("whether there is more than ASCII, by the first variable that says it", arguments: locales)
  func unicode(variables: [String: String], isUnicode: Bool) {
    expect(Host.isUnicode { variables[$0] }, isUnicode)
  }

  @Test("a signal that comes again at once is no second request")
  func sameRequest() {
    expect(
      [0, 49, 50, 1000].map { EndingSignals.isSameRequest(after: .milliseconds($0)) },
      [true, true, false, false])
  }
}
