// PhoneVerificationTests
