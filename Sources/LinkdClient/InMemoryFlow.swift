import AuthCore
import EventLoop

/// A mailed link of ``InMemoryAuthService``.
final class InMemoryFlow: FlowServicing {
  private struct Content {
    var status: FlowStatus
    var subscribers: [Updates<FlowStatus>.Feed] = []
  }

  let id: FlowID
  let email: String
  private let content: Lock<Content>

  init(_ id: FlowID, email: String) {
    self.id = id
    self.email = email
    var status = FlowStatus(id: id, method: .emailLink, stage: .waitingForLink)
    status.details.email = email
    content = Lock(Content(status: status))
  }

  var isOver: Bool { content.withLock { $0.status.stage.isEnd } }

  var stages: Updates<FlowStatus> {
    Updates { feed in
      self.content.withLock { content in
        feed.yield(.success(content.status))
        if content.status.stage.isEnd { feed.finish() } else { content.subscribers.append(feed) }
      }
    }
  }

  /// Nothing moves after the end.
  func move(to stage: FlowStage, _ fill: (inout FlowDetails) -> Void = { _ in }) {
    content.withLock { content in
      guard !content.status.stage.isEnd else { return }
      content.status.stage = stage
      content.status.sequence += 1
      fill(&content.status.details)
      for feed in content.subscribers {
        feed.yield(.success(content.status))
        if stage.isEnd { feed.finish() }
      }
    }
  }

  func provideEmail(_ email: String) async throws(LinkdError) { throw Self.notWaiting }
  func providePassword(_ password: Secret<String>) async throws(LinkdError) { throw Self.notWaiting }
  func provideCode(_ code: Secret<String>) async throws(LinkdError) { throw Self.notWaiting }
  func confirm() async throws(LinkdError) { throw Self.notWaiting }
  func resolveConflict(_ choice: ConflictChoice) async throws(LinkdError) { throw Self.notWaiting }
  func url() async throws(LinkdError) -> Secret<String> { throw Self.notWaiting }
  func resend() async throws(LinkdError) {}
  func cancel() async throws(LinkdError) { move(to: .cancelled) }

  private static var notWaiting: LinkdError { .auth(.operationNotAllowed, message: "The flow doesn't wait for that.") }
}
