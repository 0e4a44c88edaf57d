// AuthEmulator
