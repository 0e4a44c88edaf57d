/// A terminal that knows colours and blocks: what stands on it, as modules, true for dark.
struct Screen {
  private(set) var modules: [[Bool]] = []
  /// Whether each cell has both colours from the text itself, and each line ends with the terminal's own.
  private(set) var isSelfContained = true
  /// The lines' widths, without repetition.
  private(set) var columns: Set<Int> = []

  init(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { draw(line) }
  }

  private mutating func draw(_ line: Substring) {
    var cells: [(character: Character, background: Int?, foreground: Int?)] = []
    var (background, foreground): (Int?, Int?) = (nil, nil)
    var rest = line
    while let character = rest.popFirst() {
      guard character == "\u{1b}" else {
        cells.append((character, background, foreground))
        continue
      }
      let sequence = rest.prefix { $0 != "m" }
      rest = rest.dropFirst(sequence.count + 1)
      switch sequence {
      case "[0m", "[0": (background, foreground) = (nil, nil)
      case "[38;5;16;48;5;231": (background, foreground) = (231, 16)
      case "[40": background = 16
      case "[107": background = 231
      default: isSelfContained = false
      }
    }
    columns.insert(cells.count)
    let isColoured = cells.allSatisfy { $0.background != nil && ($0.character == " " || $0.foreground != nil) }
    if background != nil || !isColoured { isSelfContained = false }
    if cells.contains(where: { "█▀▄".contains($0.character) }) || cells.allSatisfy({ $0.foreground != nil }) {
      modules.append(cells.map { "█▀".contains($0.character) })
      modules.append(cells.map { "█▄".contains($0.character) })
    } else {
      // Two cells each.
      let pairs = stride(from: 0, to: cells.count, by: 2).map { cells[$0] }
      modules.append(pairs.map { $0.character == "#" || $0.background == 16 })
    }
  }
}
