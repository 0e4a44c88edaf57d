import EventLoop

/// An object to be found on the bus. Introspectable, Peer and Properties come with it.
public struct ExportedObject: Sendable {
  /// Where it is.
  public let path: ObjectPath
  /// Whether it answers ObjectManager for all objects below it.
  public let isObjectManager: Bool
  let isVisible: @LoopActor (Caller) -> Bool
  private let tables: Tables

  /// Describes it. For callers to whom it isn't visible it doesn't exist.
  public init(
    path: ObjectPath, interfaces: [Interface], isObjectManager: Bool = false,
    isVisible: @escaping @LoopActor (Caller) -> Bool = { _ in true }
  ) {
    self.init(path: path, isObjectManager: isObjectManager, isVisible: isVisible) { interfaces }
  }

  /// The same with tables that are made when they are needed for the first time: of thousands of objects few are ever
  /// called.
  public init(
    path: ObjectPath, isObjectManager: Bool = false,
    isVisible: @escaping @LoopActor (Caller) -> Bool = { _ in true },
    interfaces: @escaping @LoopActor () -> [Interface]
  ) {
    self.path = path
    self.isObjectManager = isObjectManager
    self.isVisible = isVisible
    tables = Tables(interfaces)
  }

  /// Its tables, in the order of the introspection data.
  @LoopActor public var interfaces: [Interface] { tables.all }

  @LoopActor func interface(_ name: String) -> Interface? { tables.all.first { $0.name == name } }

  @LoopActor
  private final class Tables {
    private let make: @LoopActor () -> [Interface]
    private(set) lazy var all = make()

    nonisolated init(_ make: @escaping @LoopActor () -> [Interface]) { self.make = make }
  }
}
