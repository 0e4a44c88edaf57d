// Callers
