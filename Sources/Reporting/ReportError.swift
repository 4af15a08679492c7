public import System

/// A journal that could not be read, or a report that could not be written.
public typealias ReportError = FileFault
