public import DBus
import Glibc

/// Who is at the other end of a call, as far as it matters for what they may see (behaviour: Who may ask).
public enum Sandbox {
  /// What a process is to the user's own processes.
  public enum Identity: Sendable, Hashable {
    /// A process of the user, outside of every sandbox: it is the user.
    case ordinary
    /// `flatpak:<application id>` or `snap:<name>`: sees only the apps that list it.
    case sandboxed(String)
    /// Somebody else's, or nobody can say whose: sees nothing.
    case refused
  }

  /// Identifies the process behind a connection by what the bus says about it, never by what it says itself.
  ///
  /// Where the bus gives no pidfd (before dbus 1.16), the process id may by now belong to another process: somebody who
  /// can arrange that could also have started a program outside of their sandbox.
  public static func identify(_ credentials: Credentials) -> Identity {
    identify(credentials, uid: geteuid(), proc: ProcessFolder(path: "/proc"))
  }

  static func identify(_ credentials: Credentials, uid: UInt32, proc: ProcessFolder) -> Identity {
    guard credentials.uid == uid else { return .refused }
    return classify(label: credentials.linuxSecurityLabel, flatpakInfo: proc.flatpakInfo(of: credentials))
  }

  /// The judgement alone.
  static func classify(label: String?, flatpakInfo: ProcessFolder.Lookup) -> Identity {
    let snap = label.flatMap(snapName)
    switch flatpakInfo {
    case .unreadable: return .refused
    case .absent: return snap.map { .sandboxed("snap:\($0)") } ?? .ordinary
    case .content(let text):
      guard let id = applicationID(in: text) else { return .refused }
      return .sandboxed("flatpak:\(id)")
    }
  }

  /// `NAME` of the AppArmor label `snap.NAME.APP`, which may have its mode behind it. An empty or odd name is still a
  /// snap's: nothing is configured for it.
  private static func snapName(_ label: String) -> String? {
    guard label.hasPrefix("snap.") else { return nil }
    return String(label.dropFirst(5).prefix { $0 != "." && $0 != " " })
  }

  /// `name` in the group `[Application]` of a `.flatpak-info`, which is a key file.
  private static func applicationID(in text: String) -> String? {
    var isApplication = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") {
        isApplication = line == "[Application]"
      } else if isApplication, line.hasPrefix("name=") {
        let id = line.dropFirst(5)
        return isApplicationID(id) ? String(id) : nil
      }
    }
    return nil
  }

  private static func isApplicationID(_ id: Substring) -> Bool {
    (1...255).contains(id.utf8.count)
      && id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "._-".utf8.contains(byte)
        }
      }
  }
}
