import Basics
import Glibc
import TestSupport
import Testing

@testable import System

@Suite("Signals")
struct SignalTests {
  @Test("after the first request the program goes on, and the second ends it at once with its signal")
  func interruption() async {
    await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
      Interruption.listen()
      if Interruption.isRequested || Interruption.isHeard { exit(1) }
      raise(SIGINT)
      if !Interruption.isRequested || !Interruption.isHeard { exit(2) }
      // timeout(1) sends one to the process and one to its group.
      raise(SIGINT)
      if EndingSignals.requestCount != 1 { exit(3) }
      raise(SIGTERM)
      exit(4)
    }
  }

  @Test("every signal that ends a program is a request, however it was blocked before")
  func all() async {
    await #expect(processExitsWith: .success) {
      for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR2, SIGXCPU, SIGPWR, 40, 64] {
        #expect(EndingSignals.all.contains(number), "\(number)")
      }
      // A stop, a continuation, a change of the window and the end of a child are none.
      for number in [SIGKILL, SIGSTOP, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD, SIGPIPE, SIGUSR1] {
        #expect(!EndingSignals.all.contains(number), "\(number)")
      }
      var set = EndingSignals.set
      #expect(unsafe pthread_sigmask(SIG_BLOCK, &set, nil) == 0)
      Interruption.listen()
      raise(SIGHUP)
      #expect(EndingSignals.requestCount == 1)
    }
  }

  @Test("what the parent had ignored stays ignored, but for the signals that ask a program to end")
  func ignored() async {
    for (number, count) in [(SIGHUP, 0), (SIGQUIT, 0), (SIGINT, 1), (SIGTERM, 1)] {
      await #expect(processExitsWith: .success) { [number = number as Int32, count = count as Int] in
        signal(number, SIG_IGN)
        Interruption.listen()
        raise(number)
        #expect(EndingSignals.requestCount == count)
      }
    }
  }

  @Test("a worker that leaves the signals to its campaign does not handle them later")
  func worker() async {
    await #expect(processExitsWith: .success) {
      #expect(!EndingSignals.isDecided)
      EndingSignals.ignore()
      #expect(EndingSignals.isDecided)
      Interruption.listenUnlessDecided()
      for number in [SIGINT, SIGTERM, SIGHUP, 64] { raise(number) }
      #expect(!Interruption.isRequested)
      Interruption.request()
      #expect(Interruption.isRequested)
    }
    await #expect(processExitsWith: .success) {
      Interruption.listenUnlessDecided()
      raise(SIGTERM)
      #expect(Interruption.isRequested)
    }
  }

  @Test("a signal of a defect is a request if another process sends it, and otherwise ends the program")
  func mistakes() async {
    await #expect(processExitsWith: .success) {
      Interruption.listen()
      _ = try Program.run("/bin/sh", ["-c", "kill -SEGV \(getpid())"])
      eventually { EndingSignals.requestCount == 1 }
    }
    await #expect(processExitsWith: .signal(SIGABRT)) {
      Interruption.listen()
      abort()
    }
  }

  @Test("while nothing is to be finished the first signal ends the program")
  func atOnce() async {
    await #expect(processExitsWith: .exitCode(128 + SIGHUP)) {
      Interruption.listen(saying: "nothing was begun")
      raise(SIGHUP)
      exit(1)
    }
  }

  @Test("a question for the progress waits until it is asked for, and interrupts nothing")
  func status() async {
    await #expect(processExitsWith: .success) {
      StatusSignal.block()
      #expect(!StatusSignal.wait(for: .zero))
      raise(SIGUSR1)
      #expect(StatusSignal.wait(for: timeLimit))
      #expect(!StatusSignal.wait(for: .zero))
    }
  }

  @Test("a file that grows beyond the limit of this process is an error, and the old one stays")
  func fileSize() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      folder.write("file", "old")
      signal(SIGXFSZ, SIG_DFL)
      FailedWrites.ignore()
      var before = rlimit()
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      #expect(unsafe getrlimit(resource, &before) == 0)
      var less = rlimit(rlim_cur: 1000, rlim_max: before.rlim_max)
      #expect(unsafe setrlimit(resource, &less) == 0)
      var fault: FileFault?
      do throws(FileFault) {
        try WholeFile.replace(folder.path + "/file", with: String(repeating: "x", count: 1001))
      } catch {
        fault = error
      }
      // The test itself writes more.
      #expect(unsafe setrlimit(resource, &before) == 0)
      #expect(fault == FileFault(path: folder.path + "/file", code: EFBIG))
      #expect(fault?.isMachines == true)
      #expect(folder.read("file") == "old")
      #expect(folder.names == ["file"])
    }
  }

  @Test("a pipe without a reader is an error, and ends no program")
  func unreadPipe() async {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      FailedWrites.ignore()
      var ends: [Int32] = [-1, -1]
      #expect(unsafe pipe(&ends) == 0)
      close(ends[0])
      #expect(throws: SystemError(code: EPIPE)) { try Descriptors.write([1], to: ends[1]) }
    }
  }
}
