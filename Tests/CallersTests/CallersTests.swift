// CallersTests
