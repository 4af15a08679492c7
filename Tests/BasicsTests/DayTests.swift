import Basics
import TestSupport
import Testing

@Suite("Days of the calendar")
struct DayTests {
  @Test(
    "a day is read as it is written, and what the calendar does not have is none",
    arguments: [
      ("2026-12-01", true), ("2024-02-29", true), ("2000-02-29", true), ("0001-01-01", true),
      ("9999-12-31", true), ("2023-02-29", false), ("1900-02-29", false), ("2026-13-01", false),
      ("2026-00-10", false), ("2026-04-31", false), ("2026-4-3", false), ("26-04-03", false),
      ("2026-04-03 ", false), ("+026-04-03", false), ("2026/04/03", false), ("0000-01-01", false),
      ("", false),
      ("tomorrow", false),
    ])
  func text(text: String, isDay: Bool) {
    let day = Day(text: text)
    expect(day != nil, isDay)
    if let day { expect(day.description, text) }
  }

  @Test("the time of day counts from 1970, and every day follows the one before")
  func unixTime() {
    expect(Day(unixTime: 0).description, "1970-01-01")
    expect(Day(unixTime: 86_399).description, "1970-01-01")
    expect(Day(unixTime: 951_782_400).description, "2000-02-29")
    expect(Day(unixTime: 1_796_083_200).description, "2026-12-01")
    expect(Day(unixTime: .max).description, "9999-12-31")
    var last = Day(unixTime: 0)
    for number in 1...200_000 {
      let day = Day(unixTime: Int64(number) * 86_400)
      let isNext =
        day.day == last.day + 1 && day.month == last.month && day.year == last.year
        || day.day == 1
          && (day.month == last.month + 1 && day.year == last.year
            || day.month == 1 && last.month == 12 && day.year == last.year + 1)
      if !isNext || day <= last || Day(text: day.description) != day {
        Issue.record("\(last) is followed by \(day)")
        return
      }
      last = day
    }
  }
}
