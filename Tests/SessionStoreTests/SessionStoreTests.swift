// SessionStoreTests
