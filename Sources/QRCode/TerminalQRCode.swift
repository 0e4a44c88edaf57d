/// What a terminal can show.
public enum TerminalStyle: Sendable, Hashable, CaseIterable {
  /// Half blocks, two rows of modules in a line, black on white whatever the terminal's own colours are.
  case blocks
  /// Spaces, two for each module, on black and on white: for a terminal without UTF-8.
  case spaces
  /// `##` for a dark module, without colour: for output that is kept as text. Read back from paper, or from a light terminal.
  case text

  /// The best that a terminal shows.
  /// - Parameters:
  ///   - isUTF8: whether its character encoding is UTF-8.
  ///   - hasColours: whether it obeys control sequences: false for `TERM=dumb`, and where the output is no terminal.
  public init(isUTF8: Bool, hasColours: Bool) { self = !hasColours ? .text : isUTF8 ? .blocks : .spaces }
}

extension QRCode {
  /// Columns that the code takes, quiet zone included. In fewer a terminal would break the lines, and no camera reads it.
  public func columns(_ style: TerminalStyle) -> Int { (width + 2 * Self.quietZone) * (style == .blocks ? 1 : 2) }

  /// The code as lines, each with its end, with the quiet zone around it.
  public func rendered(_ style: TerminalStyle) -> String {
    let extent = -Self.quietZone..<width + Self.quietZone
    let rows = stride(from: extent.lowerBound, to: extent.upperBound, by: style == .blocks ? 2 : 1)
    return rows.map { row in line(row, extent, style) + "\n" }.joined()
  }

  private func line(_ row: Int, _ columns: Range<Int>, _ style: TerminalStyle) -> String {
    switch style {
    case .blocks:
      // Black letters on white, both as colours of the 256 that no theme changes (16 and 231), up to the line's end.
      let cells = columns.map { half(isDark(row: row, column: $0), isDark(row: row + 1, column: $0)) }.joined()
      return "\u{1b}[38;5;16;48;5;231m\(cells)\u{1b}[0m"
    case .spaces:
      return columns.map { "\u{1b}[\(isDark(row: row, column: $0) ? "40" : "107")m  " }.joined() + "\u{1b}[0m"
    case .text:
      return columns.map { isDark(row: row, column: $0) ? "##" : "  " }.joined()
    }
  }

  private func half(_ upper: Bool, _ lower: Bool) -> String {
    switch (upper, lower) {
    case (true, true): "█"
    case (true, false): "▀"
    case (false, true): "▄"
    case (false, false): " "
    }
  }
}
