// Keyring
