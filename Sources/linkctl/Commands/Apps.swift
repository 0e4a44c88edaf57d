import AuthCore
import BridgePage
import DBusCore
import Glibc
import LinkdContract
import Texts

/// The keys of an app's file that `app add` takes as options, with their D-Bus types.
private enum AppKey {
  case text, number, list

  static let all: [(option: OptionSpec, key: String, kind: AppKey)] = [
    (.value("display-name", "NAME", "what people call the app"), "display-name", .text),
    (.value("project-id", "ID", "the Firebase project"), "project-id", .text),
    (.value("api-key", "KEY", "the project's API key"), "api-key", .text),
    (.value("app-id", "ID", "the Firebase app id"), "app-id", .text),
    (.value("client-id", "ID", "the OAuth client id"), "client-id", .text),
    (.value("auth-domain", "HOST", "host of the Firebase pages"), "auth-domain", .text),
    (.value("link-domain", "HOST", "a further host of links", isRepeatable: true), "link-domains", .list),
    (.value("scheme", "SCHEME", "a scheme of the app's own", isRepeatable: true), "schemes", .list),
    (.value("continue", "MODE", "bridge, loopback or paste"), "continue", .text),
    (.value("continue-url", "URL", "the continue page"), "continue-url", .text),
    (
      .value("continue-host", "HOST", "a further host of the continue page", isRepeatable: true), "continue-hosts",
      .list
    ),
    (.value("loopback-port", "PORT", "port of the loopback continue page"), "loopback-port", .number),
    (.value("bundle-id", "ID", "bundle id sent to Firebase"), "bundle-id", .text),
    (.value("emulator", "HOST:PORT", "use the emulator there"), "emulator", .text),
    (.value("tenant-id", "ID", "the tenant"), "tenant-id", .text),
    (.value("language", "TAG", "language of mails and texts"), "language", .text),
    (.value("allowed-client", "ID", "a sandboxed app that may use it", isRepeatable: true), "allowed-clients", .list),
    (.value("package", "NAME", "the client in google-services.json"), "package", .text),
  ]
}

extension Command {
  static let appAdd = Command(
    name: "app add", synopsis: "app add FILE [--KEY VALUE]…", summary: "take up an app from a Firebase console file",
    example: "linkctl app add firebase-config.js --scheme com.example.app --app demo",
    options: AppKey.all.map(\.option) + [
      .value("provider", "FILE", "a provider's entry, as JSON; see 'man linkd-app'", isRepeatable: true),
      .flag("allow-remote-emulator", "the emulator may be on another machine"),
    ]
  ) { context throws(Failure) in
    let name = try context.words("FILE")[0]
    var options: [String: DBusValue] = [:]
    for (spec, key, kind) in AppKey.all {
      let values = context.arguments.all(spec.name)
      guard let first = values.first else { continue }
      switch kind {
      case .text: options[key] = .string(first)
      case .list: options[key] = .strings(values)
      case .number:
        guard let number = UInt32(first) else { throw Failure(UsageError(message: "--\(spec.name) must be a number.")) }
        options[key] = .uint32(number)
      }
    }
    options["id"] = context.arguments.value("app").map(DBusValue.string)
    if context.arguments.has("allow-remote-emulator") { options["allow-remote-emulator"] = .boolean(true) }
    var providers: [String] = []
    for file in context.arguments.all("provider") {
      providers.append(String(decoding: try File.read(file), as: UTF8.self))
    }
    if !providers.isEmpty { options["providers"] = .strings(providers) }
    let reply = try context.call(
      Contract.rootPath, Contract.Interface.manager, "AddApp",
      [.bytes(try File.read(name)), .string(File.baseName(name)), .dict(options)])
    let id = reply.first?.json ?? .null
    let path = reply.first?.asPath ?? Contract.rootPath
    let warnings = try context.property(path, Contract.Interface.app, "Warnings").asStrings ?? []
    for warning in warnings { context.output.note(Output.printable(warning)) }
    context.output.json
      ? context.output.object([
        ("app", id), ("warnings", warnings.isEmpty ? nil : .array(warnings.map(JSONValue.string))),
      ])
      : say("done.app-added", id.string ?? "", context)
    return 0
  }

  static let appList = Command(
    name: "app list", synopsis: "app list", summary: "the apps", example: "linkctl app list"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let chosen = try context.property(Contract.rootPath, Contract.Interface.manager, "DefaultApp").asString
    let paths = try context.property(Contract.rootPath, Contract.Interface.manager, "Apps").asPaths ?? []
    if paths.isEmpty, !context.output.json {
      context.output.note(Texts.lookup("command.no-apps", locale: context.locale))
    }
    for path in paths where !Contract.isEmulatorVariant(path) {
      let app = try context.properties(path, Contract.Interface.app)
      let isDefault = app["Id"]?.asString == chosen
      let members: [(key: String, value: JSONValue?)] = [
        ("app", app["Id"]?.json), ("project-id", app["ProjectId"]?.json), ("display-name", app["DisplayName"]?.json),
        ("default", .bool(isDefault)),
      ]
      if context.output.json {
        context.output.object(members)
      } else {
        let text = members.prefix(3).compactMap { $0.value?.string }.map(Output.printable).joined(separator: "  ")
        context.output.line(text + (isDefault ? "  (default)" : ""))
      }
    }
    return 0
  }

  static let appRemove = Command(
    name: "app remove", synopsis: "app remove ID", summary: "forget an app, its session and its flows",
    example: "linkctl app remove demo"
  ) { context throws(Failure) in
    let id = try context.words("ID")[0]
    _ = try context.call(Contract.rootPath, Contract.Interface.manager, "RemoveApp", [.string(id), context.options()])
    if !context.output.json { say("done.app-removed", id, context) }
    return 0
  }

  static let appDefault = Command(
    name: "app default", synopsis: "app default ID", summary: "the app that commands mean without --app",
    example: "linkctl app default demo"
  ) { context throws(Failure) in
    let id = try context.words("ID")[0]
    _ = try context.call(
      Contract.rootPath, "org.freedesktop.DBus.Properties", "Set",
      [.string(Contract.Interface.manager), .string("DefaultApp"), .variant(.string(id))])
    if !context.output.json { say("done.app-default", id, context) }
    return 0
  }

  static let appBridge = Command(
    name: "app bridge", synopsis: "app bridge DIR", summary: "write the continue page for a web server",
    example: "linkctl app bridge public/ --app demo"
  ) { context throws(Failure) in
    let folder = try context.words("DIR")[0]
    let app = try context.properties(try context.appPath(), Contract.Interface.app)
    let config = BridgePage.config(
      schemes: app["Schemes"]?.asStrings ?? [], name: app["DisplayName"]?.asString ?? "",
      language: app["LanguageCode"]?.asString.filled)
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw File.failure(folder) }
    for (name, bytes) in BridgePage.files where name != "config.js" { try File.write("\(folder)/\(name)", bytes) }
    try File.write("\(folder)/config.js", Array(config.utf8))
    context.output.note("Put the files of \(folder) where your continue URL leads.")
    return 0
  }

  private static func say(_ text: String, _ app: String, _ context: Context) {
    context.output.note(Texts.lookup(text, locale: context.locale, ["app": app]))
  }

  static let register = Command(
    name: "register", synopsis: "register", summary: "make the apps' links open in linkd",
    example: "linkctl register"
  ) { context throws(Failure) in
    try registration(context, "Register", "command.registered", none: "command.nothing-to-register")
  }

  static let unregister = Command(
    name: "unregister", synopsis: "unregister", summary: "let go of the apps' links",
    example: "linkctl unregister"
  ) { context throws(Failure) in
    try registration(context, "Unregister", "command.unregistered", none: "command.nothing-registered")
  }

  private static func registration(
    _ context: Context, _ member: String, _ title: String, none: String
  ) throws(Failure) -> Int32 {
    _ = try context.arguments.noWords()
    let reply = try context.call(Contract.rootPath, Contract.Interface.manager, member, [context.options()])
    let schemes = reply.first?.asStrings ?? []
    if context.output.json {
      context.output.object([("schemes", .array(schemes.map(JSONValue.string)))])
    } else {
      context.output.note(Texts.lookup(schemes.isEmpty ? none : title, locale: context.locale))
      for scheme in schemes { context.output.line(scheme) }
    }
    return 0
  }
}

/// Whole files, bounded.
enum File {
  /// At most a mebibyte: what the console gives is a few kilobytes.
  static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= 1 << 20 else { throw Failure(name: nil, message: "\(path) is too big.", exitCode: 65) }
    }
  }

  static func write(_ path: String, _ bytes: [UInt8]) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(path) }
      sent += count
    }
  }

  static func failure(_ path: String) -> Failure {
    Failure(name: nil, message: "\(path): \(String(cString: strerror(errno)))", exitCode: 1)
  }

  static func baseName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
