/// What somebody probably meant to write.
public enum Spelling {
  /// How many letters must be put in, left out or replaced (Levenshtein), of the first 40 bytes.
  public static func distance(_ one: String, _ other: String) -> Int {
    let letters = Array(other.utf8.prefix(40))
    var row = Array(0...letters.count)
    for (index, letter) in one.utf8.prefix(40).enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in letters.indices {
        let cost = diagonal + (letters[column] == letter ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(cost, diagonal + 1, row[column] + 1)
      }
    }
    return row[letters.count]
  }

  /// The one of `known` that's at most two letters away from `word`, whatever its case and marks; nil where there is none.
  public static func nearest(to word: String, of known: [String]) -> String? {
    let typed = plain(word)
    let near = known.map { (word: $0, distance: distance(plain($0), typed)) }.min { $0.distance < $1.distance }
    return near.flatMap { $0.distance <= min(2, typed.utf8.count / 3) ? $0.word : nil }
  }

  /// `clientId`, `client_id` and `client-id` are alike.
  private static func plain(_ word: String) -> String { word.lowercased().filter { $0.isLetter || $0.isNumber } }
}
