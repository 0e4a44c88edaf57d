/// The store's key, from the place that was decided on at the first start.
public struct Keyring: Sendable {
  private let file: FileKeyStore

  /// A keyring whose file, if it's used, lies in the state folder `folder`.
  public init(folder: String) { file = FileKeyStore(folder: folder) }

  /// The key of a database whose header names `kind`.
  ///
  /// It's looked for there alone: where it's missing the result is `absent`, never a key from elsewhere and never a new one.
  public func key(in kind: KeyStoreKind) -> KeyLookup {
    switch kind {
    case .file: file.load()
    case .secretService: .absent
    }
  }

  /// The key for a database without a header: the one in `kind`, which a first start may have left there before it could
  /// write the header, else a new one.
  public func firstKey(in kind: KeyStoreKind) -> KeyLookup {
    let found = key(in: kind)
    guard found == .absent, kind == .file else { return found }
    do throws(KeyringError) {
      return .key(try file.create())
    } catch {
      return .failed(error)
    }
  }
}
