public import DBus
public import EventLoop
public struct Notice: Sendable { public init(title: String, body: String) {} }
@LoopActor public final class Notifier { public init(connection: Connection) {}; public func show(_ n: Notice) {} }
public enum RegistrationError: Error, CustomStringConvertible { case x; public var description: String { "" } }
public struct SchemeRegistration: Sendable {
  public init(dataHome: String, configHome: String, linkctl: String) {}
  public func register(_ s: [String]) throws(RegistrationError) -> [String] { s }
  public func unregister() throws(RegistrationError) -> [String] { [] }
}
