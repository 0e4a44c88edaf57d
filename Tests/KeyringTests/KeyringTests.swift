// KeyringTests
