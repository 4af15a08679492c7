import Drawing

extension MachineDefinition {
  /// Returns the machine as a drawing in SVG.
  ///
  /// Arrows that the device takes by itself are dashed, rows that the author added are grey, and all rows from one
  /// state to another share one arrow.
  public func svg() -> String {
    let drawing = MachineDrawing(self)
    let title = summary.isEmpty ? name : "\(name): \(summary)"
    let extent = drawing.layout.extent
    let width = max(extent.width, title.count * MachineDrawing.characterWidth) + MachineDrawing.margin
    let height = extent.height + MachineDrawing.margin
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        + "viewBox=\"0 0 \(width) \(height)\" role=\"img\" font-family=\"monospace\" font-size=\"11\">",
      "<title>\(escaped(title))</title>", style,
      textElement(title, x: MachineDrawing.margin, y: 24, "font-weight=\"bold\""),
    ]
    let boxes = drawing.layout.boxes
    lines += drawing.starts.map { startMark(boxes[$0]) }
    let joining = drawing.arrows.filter { !$0.isLoop }
    let loops = drawing.arrows.filter(\.isLoop)
    lines += zip(joining, drawing.layout.arrows).map { path($0, drawing.layout, $1) }
    lines += loops.map { loop($0, at: boxes[$0.from]) }
    for (box, title) in zip(boxes, drawing.titles) { lines += state(box, title) }
    for (arrow, laidOutArrow) in zip(joining, drawing.layout.arrows) {
      lines += label(boxes[laidOutArrow.route[0]], arrow.lines)
    }
    for arrow in loops { lines += loopLabel(arrow, at: boxes[arrow.from]) }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }
}

private let style = """
  <style>
  rect { fill: #f4f6fa; stroke: #33415c }
  path { fill: none; stroke: #33415c }
  text { fill: #1b2437; white-space: pre }
  .paper { fill: #ffffff; stroke: none }
  .spontaneous { stroke-dasharray: 5 3 }
  .ours { stroke: #8b95a7 }
  </style>
  <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" \
  orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z" style="fill: #33415c"/></marker></defs>
  <rect class="paper" width="100%" height="100%"/>
  """

private func startMark(_ box: GraphLayout.Box) -> String {
  "<circle cx=\"\(box.middle)\" cy=\"\(box.y - 20)\" r=\"5\"/>"
    + "<path d=\"M\(box.middle),\(box.y - 15) V\(box.y)\" marker-end=\"url(#tip)\"/>"
}

private func state(_ box: GraphLayout.Box, _ lines: [String]) -> [String] {
  [rectangle(box, "rx=\"8\"")]
    + lines.enumerated().map { index, line in
      textElement(
        line, x: box.middle, y: box.y + 17 + index * MachineDrawing.lineHeight,
        "text-anchor=\"middle\"" + (index == 0 ? " font-weight=\"bold\"" : ""))
    }
}

/// Returns a label on a background of its own, so that arrows pass behind it.
private func label(_ box: GraphLayout.Box, _ lines: [String]) -> [String] {
  [rectangle(box, "class=\"paper\"")]
    + lines.enumerated().map { index, line in
      textElement(line, x: box.x + 4, y: box.y + 12 + index * MachineDrawing.lineHeight, "")
    }
}

private func loopLabel(_ arrow: MachineDrawing.Arrow, at box: GraphLayout.Box) -> [String] {
  let top = box.y + box.height / 2 - (arrow.lines.count - 1) * MachineDrawing.lineHeight / 2 + 4
  return arrow.lines.enumerated().map { index, line in
    textElement(line, x: box.x + box.width + 36, y: top + index * MachineDrawing.lineHeight, "")
  }
}

private func rectangle(_ box: GraphLayout.Box, _ attributes: String) -> String {
  "<rect x=\"\(box.x)\" y=\"\(box.y)\" width=\"\(box.width)\" height=\"\(box.height)\" \(attributes)/>"
}

private func textElement(_ text: String, x: Int, y: Int, _ attributes: String) -> String {
  "<text x=\"\(x)\" y=\"\(y)\"\(attributes.isEmpty ? "" : " ")\(attributes)>\(escaped(text))</text>"
}

private func path(
  _ arrow: MachineDrawing.Arrow, _ layout: GraphLayout, _ laidOutArrow: GraphLayout.Arrow
) -> String {
  "\(openingTag(arrow)) d=\"\(layout.curve(of: laidOutArrow))\" marker-\(laidOutArrow.leadsUp ? "start" : "end")=\"url(#tip)\"/>"
}

private func loop(_ arrow: MachineDrawing.Arrow, at box: GraphLayout.Box) -> String {
  let (x, y) = (box.x + box.width, box.y + box.height / 2)
  return "\(openingTag(arrow)) d=\"M\(x),\(y - 6) C\(x + 40),\(y - 24) \(x + 40),\(y + 24) \(x),\(y + 6)\" "
    + "marker-end=\"url(#tip)\"/>"
}

private func openingTag(_ arrow: MachineDrawing.Arrow) -> String {
  let classes = [arrow.isSpontaneous ? "spontaneous" : "", arrow.isAddedByAuthor ? "ours" : ""]
  let name = classes.filter { !$0.isEmpty }.joined(separator: " ")
  return name.isEmpty ? "<path" : "<path class=\"\(name)\""
}

/// Returns text escaped for XML 1.0, with U+FFFD for characters that XML does not allow.
private func escaped(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\u{0}"..."\u{1F}", "\u{7F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
