import AuthCore
import DBusCore
import Glibc
import LinkdContract
import QRCode
import Texts

/// What an authenticator app needs to make codes.
struct AppSetup: Sendable {
  /// Base32.
  let secret: Secret<String>
  /// `otpauth://totp/…`, which has the secret in it.
  let uri: Secret<String>
}

/// An authenticator app that is added: the QR code, the secret, the address.
extension FlowFollower {
  /// Asks linkd for it, once; whether it's new.
  func findSetup(_ report: FlowReport, _ path: ObjectPath) -> Bool {
    guard report.isEnrollingTOTP, isOwn, setup == nil else { return false }
    let reply = try? context.call(path, Contract.Interface.flow, "GetSecret", [context.options()])
    guard let secret = reply?.first?.asString, let uri = reply?.dropFirst().first?.asString else { return false }
    setup = AppSetup(secret: Secret(secret), uri: Secret(uri))
    return true
  }

  /// On standard output, for a person: `--json` has it in its line.
  func showSetup() {
    guard let setup else { return }
    let wantsCode = context.arguments.has("qr") || isatty(STDOUT_FILENO) == 1
    say(wantsCode && showQRCode(setup.uri) ? "command.secret-too" : "command.secret")
    context.output.line(Self.groups(setup.secret.reveal()))
    if context.arguments.has("uri") { showURI() }
  }

  func showURI() {
    guard let setup else { return }
    context.output.line(Output.printable(setup.uri.reveal()))
  }

  private func showQRCode(_ uri: Secret<String>) -> Bool {
    do throws(QRCodeError) {
      let code = try QRCode(uri.reveal())
      let style = Screen.style
      if let width = Screen.width, width < code.columns(style) {
        say("command.narrow", ["columns": String(code.columns(style))])
        return false
      }
      say("command.scan")
      context.output.line(String(code.rendered(style).dropLast()))
      return true
    } catch {
      say(error == .libraryMissing ? "command.no-qr-library" : "command.no-qr")
      return false
    }
  }

  /// Groups of four, which are typed with fewer mistakes.
  private static func groups(_ secret: String) -> String {
    var out = ""
    for (index, character) in Output.printable(secret).enumerated() {
      if index > 0, index % 4 == 0 { out += " " }
      out.append(character)
    }
    return out
  }
}

/// What standard output can show.
enum Screen {
  static var style: TerminalStyle {
    let isDumb = value("TERM").map { $0 == "dumb" } ?? true
    let hasColours = isatty(STDOUT_FILENO) == 1 && !isDumb && value("NO_COLOR") == nil
    return TerminalStyle(isUTF8: isUTF8, hasColours: hasColours)
  }

  /// Columns; nil for what is no terminal, or doesn't say.
  static var width: Int? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  private static var isUTF8: Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(value).first ?? ""
    let encoding = locale.lowercased().drop { $0 != "." }
    return encoding.hasPrefix(".utf-8") || encoding.hasPrefix(".utf8")
  }

  private static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) }.filled }
}
