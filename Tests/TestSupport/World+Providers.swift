import Foundation

extension World {
  /// Adds an app of the emulator's project with entries of `providers`, as its file has them.
  public func addApp(_ app: String, scheme: String = World.scheme, providers: [[String: Any]]) async throws {
    var options: [String] = []
    for (index, entry) in providers.enumerated() {
      let text = String(decoding: try JSONSerialization.data(withJSONObject: entry), as: UTF8.self)
      options += ["--provider", try home.write(text, to: "provider-\(app)-\(index).json")]
    }
    try await addApp(app, scheme: scheme, options: options)
  }

  /// Starts a sign-in by a provider: the flow, and the page that a browser would be sent to.
  public func signInPage(
    _ provider: String, app: String = "demo", _ more: String...
  ) async throws -> (flow: String, url: String) {
    let argv =
      ["\(World.programs)/linkctl", "sign-in", provider, "--app", app, "--no-wait", "--no-browser", "--json"] + more
    let result = try await run(argv)
    let lines = result.stdout.split(separator: "\n").compactMap {
      try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
    let last = lines.last { $0["url"] != nil }
    guard result.status == 0, let flow = last?["flow"] as? String, let url = last?["url"] as? String else {
      throw Failure(description: "sign-in \(provider): \(result.stderr)\(result.stdout)\n\(log)")
    }
    return (flow, url)
  }

  /// Makes whatever `xdg-open` is given as a web page end up in a list, as the person's browser would get it.
  public func catchPages() throws {
    let program = try home.write(
      "#!/bin/sh\nprintf '%s\\n' \"$1\" >>'\(home.file("pages"))'\n", to: "catch", executable: true)
    _ = try home.write(
      "[Desktop Entry]\nType=Application\nName=Browser\nExec=\(program) %u\n"
        + "MimeType=x-scheme-handler/http;x-scheme-handler/https;\n", to: "data/applications/catch.desktop")
    let defaults = "[Default Applications]\nx-scheme-handler/http=catch.desktop\nx-scheme-handler/https=catch.desktop\n"
    _ = try home.write(defaults, to: "share/applications/mimeapps.list")
  }

  /// What `catchPages` has caught, in order.
  public var pages: [String] {
    ((try? String(contentsOfFile: home.file("pages"), encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }
}

extension Browser {
  /// On the emulator's page for a provider: makes an account and goes on with it.
  public func useAccount(subject: String, email: String) async throws {
    try await type(email, into: "#email")
    // The form brings a subject of its own.
    try await run("document.getElementById('sub').value = '\(subject)'")
    try await click("#add-account")
  }
}
