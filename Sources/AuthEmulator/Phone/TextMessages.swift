import AuthCore

/// A code that was sent by text message.
struct SMSRecord: Sendable {
  let code: String
  let phoneNumber: String
  let sessionInfo: String
  /// Unix milliseconds.
  let sentAt: Int64
  /// Wrong codes that it has been tried with.
  var attempts = 0

  var json: JSONValue {
    ["code": .string(code), "phoneNumber": .string(phoneNumber), "sessionInfo": .string(sessionInfo)]
  }
}

/// What a project keeps of its text messages.
struct TextMessages: Sendable {
  /// A proof from a conflict that somebody has a number.
  struct Proof: Sendable {
    let number: String
    /// Unix milliseconds.
    let madeAt: Int64
  }

  /// Those whose code nobody has used yet, oldest first.
  var waiting: [SMSRecord] = []
  /// When messages were sent to a number, in Unix milliseconds; numbers for tests get none.
  var sent: [String: [Int64]] = [:]
  /// The sessions of used codes.
  var spent: Set<String> = []
  var proofs: [String: Proof] = [:]

  /// Milliseconds that a message counts against its number.
  static let window: Int64 = 3_600_000
}

extension Project {
  /// Sends a code to a number and gives the session it belongs to.
  mutating func sendSMS(to number: String, now: Int64) throws(APIError) -> String {
    let testCode = phone.testNumbers[number]
    if testCode == nil {
      if let quota = phone.quota, messages.sent.values.reduce(0, { $0 + $1.count }) >= quota {
        throw APIError("QUOTA_EXCEEDED : Exceeded quota for sending verification codes.")
      }
      let recent = messages.sent[number]?.count { $0 > now - TextMessages.window } ?? 0
      if let limit = phone.messages, recent >= limit { throw APIError("TOO_MANY_ATTEMPTS_TRY_LATER") }
      messages.sent[number, default: []].append(now)
    }
    let record = SMSRecord(
      code: testCode ?? RandomText.digits(6), phoneNumber: number, sessionInfo: RandomText.urlLetters(226), sentAt: now)
    messages.waiting.append(record)
    return record.sessionInfo
  }

  /// The number that a code of a text message proves; the code is spent by that.
  /// - Parameter isStrict: whether a used code is told as production tells it (field report B096).
  mutating func redeemSMS(session: String, code: String, now: Int64, isStrict: Bool) throws(APIError) -> String {
    guard let index = messages.waiting.firstIndex(where: { $0.sessionInfo == session }) else {
      throw APIError(isStrict && messages.spent.contains(session) ? "SESSION_EXPIRED" : "INVALID_SESSION_INFO")
    }
    if let lifetime = phone.codeLifetime, now >= messages.waiting[index].sentAt + lifetime * 1000 {
      throw APIError("SESSION_EXPIRED")
    }
    if let attempts = phone.attempts, messages.waiting[index].attempts >= attempts {
      throw APIError("TOO_MANY_ATTEMPTS_TRY_LATER")
    }
    guard messages.waiting[index].code == code else {
      messages.waiting[index].attempts += 1
      throw APIError("INVALID_CODE")
    }
    messages.spent.insert(session)
    return messages.waiting.remove(at: index).phoneNumber
  }

  /// A proof for a number that is another account's.
  mutating func prove(_ number: String, now: Int64) -> JSONValue {
    let proof = RandomText.urlLetters(119)
    messages.proofs[proof] = TextMessages.Proof(number: number, madeAt: now)
    return [
      "phoneNumber": .string(number), "temporaryProof": .string(proof),
      "temporaryProofExpiresIn": .string(String(phone.proofLifetime)),
    ]
  }

  /// Refuses a proof that is unknown, old or another number's.
  func check(proof: String, of number: String, now: Int64) throws(APIError) {
    guard let known = messages.proofs[proof], known.number == number, now < known.madeAt + phone.proofLifetime * 1000
    else { throw APIError("INVALID_TEMPORARY_PROOF") }
  }
}
