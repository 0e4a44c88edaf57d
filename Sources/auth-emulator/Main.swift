import AuthEmulator
import Glibc

@main
struct Main {
  static func main() {
    let options: Options
    switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .run(let parsed): options = parsed
    case .print(let text):
      print(text)
      return
    case .refuse(let reason):
      complain("\(reason)\nTry auth-emulator --help.")
      exit(64)
    }
    // Blocked before the server's threads start, so that they inherit it and the signal is this thread's.
    var ending = sigset_t()
    sigemptyset(&ending)
    sigaddset(&ending, SIGTERM)
    sigaddset(&ending, SIGINT)
    pthread_sigmask(SIG_BLOCK, &ending, nil)
    do throws(EmulatorError) {
      let emulator = try AuthEmulator.start(
        port: options.port, project: options.project, schemes: options.schemes, faults: options.faults)
      for account in options.accounts { emulator.add(account) }
      emulator.setConsent(options.consent)
      print("auth-emulator: http://\(emulator.address) (project \(emulator.project))")
      fflush(nil)
      var signal: Int32 = 0
      sigwait(&ending, &signal)
      emulator.stop()
    } catch {
      complain("\(error)")
      exit(69)
    }
  }

  private static func complain(_ message: String) {
    let line = Array("auth-emulator: \(message)\n".utf8)
    write(STDERR_FILENO, line, line.count)
  }
}
