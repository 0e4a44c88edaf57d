// AuthEmulatorTests
