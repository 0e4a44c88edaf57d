// Whoever has a connection has values, paths and errors too: to its users D-Bus is one module. `DBusCore` stands apart so
// that programs without tasks needn't link the concurrency runtime (docs/design/0004-speed.md).
@_exported public import DBusCore

/// libdbus has a structure of that name as well: here ours is meant.
public typealias DBusError = DBusCore.DBusError
