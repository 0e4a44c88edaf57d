import CCurl

/// libcurl's functions, loaded when the first request is made.
struct CurlLibrary {
  let functions: ccurl

  /// Nil where the library is missing or can't be initialised.
  init?() {
    var functions = ccurl()
    guard ccurl_load(&functions) else { return nil }
    self.functions = functions
  }
}
