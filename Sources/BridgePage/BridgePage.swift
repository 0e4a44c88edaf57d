public enum BridgePage {
  public static let files: [String: [UInt8]] = [:]
  public static func config(schemes: [String], name: String, language: String?) -> String { "" }
}
