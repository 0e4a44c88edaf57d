extension Texts {
  /// Where one error stands for several causes and its own text would send people the wrong way: what happened, and what to
  /// do next.
  static let causes: [String: String] = [
    "cause.storage-full":
      "The disk is full, or a limit on it is reached, so nothing can be saved. Make room, then try again.",
    "cause.storage-busy": "Another program has linkd's file open and locked. End that program, then try again.",
    "cause.storage-read-only":
      "linkd's folder can't be written to. Make the folder and its files writable, then try again.",
    "cause.storage-not-ours":
      "linkd's folder, or a file in it, belongs to somebody else or isn't a plain file. Move it away, then try again.",
    "cause.key-permissions":
      "Others may read the key of the stored sessions, so it isn't used. Make it yours alone with 'chmod 600', then try "
      + "again.",
    "cause.no-address":
      "The account has no email address that a mail could go to. Add one to it first, with a mailed link or a password.",
    "cause.other-code": "The link's code is for something else. Open the link itself to see what it does.",
    "cause.app-file-damaged":
      "The link is for an app whose file is damaged. Correct the file, then open the link again.",
  ]
}
