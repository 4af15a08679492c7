import Basics
import Crypto
import Files

/// A style or a script of the page, embedded unchanged.
private struct PagePart {
  let markup: Markup
  /// The hash by which the page's policy permits it.
  let hash: String

  init(_ file: EmbeddedFile) {
    markup = "\n\(Markup(file))"
    hash = "sha256-" + sha256InBase64(Array(markup.source.utf8))
  }

  /// The styles of the page, in light and dark, on a telephone and on paper.
  ///
  /// Each outcome has a colour and always a sign beside it.
  static let style = PagePart(.pageStyle)

  /// The interactive features of the page: filters, keys, buttons that copy.
  ///
  /// It makes no markup from contents of the page, and works on files without a server.
  static let script = PagePart(.pageScript)
}

/// The beginning of a page up to its body.
///
/// Nothing may be loaded, and no style or script may run except ours, which the policy permits by their
/// hashes.
package func pageHead(title: String) -> Markup {
  """
  <!doctype html>
  <html lang="en">
  <head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '\(PagePart.style.hash)'; \
  script-src '\(PagePart.script.hash)'; base-uri 'none'; form-action 'none'">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="referrer" content="no-referrer">
  <meta name="generator" content="lockstep">
  <title>\(clipped(title, toBytes: 300))</title>
  <style>\(PagePart.style.markup)</style>
  </head>
  <body>
  <a class="skip" href="#main">Skip to the results</a>

  """
}

/// The end of a page.
///
/// - Parameters:
///   - origin: the program and the sources of the page.
///   - waited: the note that some times were measured by the clock of a waiting person.
package func pageEnd(_ origin: Markup, waited: Markup? = nil) -> Markup {
  let exception: Markup = waited.map { " \($0) is by the clock," } ?? ""
  return """
    </main>
    <footer><p>Made by \(origin). All times of day are in UTC,\(exception) all others in the time of the device.</p></footer>
    <script>\(PagePart.script.markup)</script>
    </body>
    </html>

    """
}

/// The form for filters, which is shown only if the script runs.
let filters: Markup = """
  <details id="filters" hidden><summary>Filter the cases, and keys</summary>
  <form role="search" aria-label="Filter the cases">
  <div class="fields">
  <label>Text <input type="search" id="filter-text" autocomplete="off" spellcheck="false"></label>
  <label>Outcome <select id="filter-outcome"><option value="">all</option></select></label>
  <label>Machine <select id="filter-machine"><option value="">all</option></select></label>
  <label>Tag <select id="filter-tag"><option value="">all</option></select></label>
  <button type="reset">Clear</button>
  <output id="filter-count" role="status"></output>
  </div>
  <p class="keys"><kbd>/</kbd> filter · <kbd>j</kbd> <kbd>k</kbd> next and previous failure · <kbd>c</kbd> copy its replay \
  line · <kbd>Esc</kbd> clear · <label><input type="checkbox" id="keys" checked> keys on</label></p>
  </form></details>

  """
