import FuzzTargets
@preconcurrency import Glibc

// libFuzzer (https://llvm.org/docs/LibFuzzer.html) around one target. FUZZ_TARGET names it, since the arguments are
// libFuzzer's: it starts itself with them. Without one, the list of targets is printed.

private let target: FuzzTarget? = getenv("FUZZ_TARGET").flatMap { name in
  FuzzTarget.all.first { $0.name == String(cString: name) }
}

@c(LLVMFuzzerTestOneInput)
func testOneInput(_ start: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: length))
  guard let fault = target?.fault(in: input) else { return 0 }
  fputs("doesn't hold: \(fault)\n", stderr)
  abort()
}

typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

// libFuzzer's entry for programs with a `main` of their own; the toolchain has no header for it.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
  _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

// What the package manager calls this program's `main`.
@c(fuzzer_main)
func start(_ count: CInt, _ arguments: Arguments) -> CInt {
  guard target != nil else {
    for target in FuzzTarget.all { print(target.name, target.maximumLength) }
    return 0
  }
  var count = count
  var arguments = arguments
  return runDriver(&count, &arguments, testOneInput)
}
