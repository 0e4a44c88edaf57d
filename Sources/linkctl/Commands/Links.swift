import AuthCore
import DBusCore
import Glibc
import LinkdContract

extension Command {
  static let open = Command(
    name: "open", synopsis: "open [--no-wait] [--] URL|-", summary: "take a clicked or pasted link",
    example: "linkctl open 'https://demo.firebaseapp.com/__/auth/action?mode=signIn&oobCode=…'",
    options: [.flag("no-wait", "leave once the link is stored; what the desktop uses")],
    ignoresUnknownOptions: true
  ) { context throws(Failure) in
    let url = try LinkArgument.find(context.arguments)
    if context.arguments.has("no-wait") { return LinkAnswer.print(try store(url, context), context) }
    return try openAndWait(url, context)
  }

  /// Hands the link over. A daemon that dies under it is started again by the second call: delivering a link twice is
  /// delivering it once (behaviour: Pending flows 4).
  private static func store(_ url: String, _ context: Context) throws(Failure) -> [DBusValue] {
    let arguments: [DBusValue] = [.string(url), context.options()]
    do throws(Failure) {
      return try context.call(Contract.rootPath, Contract.Interface.links, "Open", arguments)
    } catch {
      guard error.name == DBusError.Name.noReply, !context.hasTimedOut else { throw error }
      return try context.call(Contract.rootPath, Contract.Interface.links, "Open", arguments)
    }
  }

  private static func openAndWait(_ url: String, _ context: Context) throws(Failure) -> Int32 {
    let reply = try store(url, context)
    guard reply.first?.asBool == true, let path = reply.last?.member("flow")?.asPath else {
      return LinkAnswer.print(reply, context)
    }
    return try FlowFollower.run(context, wait: true) { path }
  }

  static let canHandle = Command(
    name: "can-handle", synopsis: "can-handle URL", summary: "what linkd thinks of a link; touches nothing",
    example: "linkctl can-handle --json 'https://demo.firebaseapp.com/__/auth/action?…'",
    ignoresUnknownOptions: false
  ) { context throws(Failure) in
    let url = try LinkArgument.find(context.arguments)
    let reply = try context.call(
      Contract.rootPath, Contract.Interface.links, "CanHandle", [.string(url), context.options()])
    guard reply.first?.asBool == true else { return LinkAnswer.print(reply, context) }
    context.output.json
      ? context.output.object(LinkAnswer.members(reply))
      : context.output.line(reply.last?.member("kind")?.asString ?? "")
    return 0
  }
}

/// Finding the link among the arguments (field reports B046, B079).
enum LinkArgument {
  /// The one argument that looks like a link, wherever a launcher put it; `-` reads standard input.
  static func find(_ arguments: Arguments) throws(Failure) -> String {
    let all = arguments.words + arguments.rest
    if all == ["-"] {
      let text = LinkText.joinLines(try standardInput())
      guard !text.utf8.contains(0) else {
        throw Failure(name: nil, message: "The link holds a zero byte. Copy it again.", exitCode: 65)
      }
      return text
    }
    let links = all.filter(LinkText.looksLikeLink)
    if links.count == 1 { return links[0] }
    if links.count > 1 { throw Failure(UsageError(message: "Two links were given; open one at a time.")) }
    // After `--` a single argument is meant as a link, whatever it looks like.
    if arguments.rest.count == 1, arguments.words.isEmpty { return arguments.rest[0] }
    throw Failure(UsageError(message: "No link was given."))
  }

  private static func standardInput() throws(Failure) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= 64 * 1024 {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(name: nil, message: "Standard input isn't valid UTF-8.", exitCode: 65)
    }
    return text
  }
}

/// What `Open` and `CanHandle` answered.
enum LinkAnswer {
  static func members(_ reply: [DBusValue]) -> [(key: String, value: JSONValue?)] {
    let details = reply.last?.asDict ?? [:]
    return [
      ("handled", reply.first?.json), ("kind", details["kind"]?.json), ("reason", details["reason"]?.json),
      ("app", details["app"]?.json), ("flow", details["flow"]?.json), ("via", details["via"]?.json),
    ]
  }

  /// Why the link isn't handled, for a person; nil if it is.
  static func refusal(_ reply: [DBusValue]) -> String? {
    if reply.first?.asBool == true { return nil }
    let reason = reply.last?.member("reason")?.asString ?? ""
    return Output.printable(reply.last?.member("message")?.asString ?? "This link isn't handled (\(reason)).")
  }

  /// Prints an answer that needs no waiting, and gives the exit code.
  static func print(_ reply: [DBusValue], _ context: Context) -> Int32 {
    let details = reply.last
    if context.output.json { context.output.object(members(reply)) }
    if reply.first?.asBool == true {
      if !context.output.json, let path = details?.member("flow")?.asPath {
        context.output.line(FlowReport(path: path, properties: [:]).id)
      }
      return 0
    }
    let reason = details?.member("reason")?.asString ?? ""
    if let text = refusal(reply) { context.output.note("linkctl: \(text)") }
    // Every `reject` word is a broken link.
    return LinkRejectionReason(rawValue: reason)?.exitCode ?? 65
  }
}
