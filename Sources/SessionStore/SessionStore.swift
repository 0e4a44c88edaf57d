// SessionStore
