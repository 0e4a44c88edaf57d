// PhoneVerification
