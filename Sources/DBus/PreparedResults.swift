import CDBus
public import EventLoop

/// A method's results, checked and marshalled once and sent many times: for what is asked for over and over.
///
/// What they say stays in memory as long as this object does. It has no description: nothing of it can be printed.
@LoopActor
public final class PreparedResults {
  private let template: Message
  let signature: String

  /// - Throws: InvalidArgs and LimitsExceeded for what can't be sent.
  public init(_ values: [DBusValue]) throws(DBusError) {
    template = try Message.reply(arguments: values)
    signature = template.signatureText
  }

  /// The reply to a call: the template's bytes with another address.
  func reply(to call: borrowing Message) throws(DBusError) -> Message {
    try template.copy(replyingTo: call)
  }
}
