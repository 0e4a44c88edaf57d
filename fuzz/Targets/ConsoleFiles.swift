import AppConfiguration
import AuthCore

/// The files that the Firebase console gives, property lists among them.
enum ConsoleFiles {
  static func check(_ input: [UInt8]) throws(Fault) {
    for overrides in [[:], ["package": "com.example.app", "id": "demo"]] as [[String: JSONValue]] {
      let file: AppFile
      do throws(ConfigurationError) {
        file = try ConsoleFile.read(input, named: "FILE", overrides: overrides)
      } catch {
        try AppFiles.noKey(of: input, in: error)
        continue
      }
      try AppFiles.same(file)
    }
  }
}
