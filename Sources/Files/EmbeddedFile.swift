// Whoever uses a file names it, so the list of them comes along.
@_exported public import CFiles

extension EmbeddedFile {
  /// What stands in it.
  public var text: String { unsafe String(cString: lockstep_embedded_text(self)) }
}
