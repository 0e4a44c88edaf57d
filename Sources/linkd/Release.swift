/// What this is a version of.
enum Release {
  static let version = "0.1.0"
}
