public import Basics
import Glibc
import System

/// The emulator's end of a control socket, for an event loop.
///
/// Up to 16 programs may be connected; the requests of each are answered in order.
public final class ControlServer {
  /// A connected program.
  public struct Client: Equatable, Sendable {
    fileprivate let number: Int
  }

  /// The path of the socket.
  public let path: String
  private let listener: Int32
  private var clients: [(number: Int, stream: LineStream, isWatching: Bool)] = []
  private var last = 0
  /// The maximum number of connected programs.
  private static let maximumClients = 16

  /// Starts to listen, for programs of this user only.
  public init(path: String) throws(ControlError) {
    self.path = path
    listener = try ControlSocket.listen(at: path)
  }

  deinit { shutDown() }

  /// The descriptors to poll.
  public var descriptors: [(descriptor: Int32, events: Int16)] {
    [(listener, Int16(POLLIN))] + clients.map { ($0.stream.descriptor, $0.stream.events) }
  }

  /// Reads what has arrived, without blocking, and returns the requests in order.
  ///
  /// An invalid line is answered at once.
  public func service() -> [(client: Client, request: ControlRequest)] {
    acceptAll()
    var requests: [(Client, ControlRequest)] = []
    for index in clients.indices {
      clients[index].stream.flush()
      read(index, &requests)
    }
    clients.removeAll { $0.number == 0 }
    return requests
  }

  /// Answers a request; does nothing if the client has disconnected.
  public func answer(_ client: Client, _ answer: ControlAnswer) {
    guard let index = clients.firstIndex(where: { $0.number == client.number }) else { return }
    clients[index].stream.send(answer.line)
  }

  /// Subscribes a client to the output of the lock's program.
  public func watch(_ client: Client) {
    guard let index = clients.firstIndex(where: { $0.number == client.number }) else { return }
    clients[index].isWatching = true
  }

  /// Sends a line of the lock's program to the watching clients; disconnects a client that does not read.
  public func show(_ line: JSON) {
    let text = ControlAnswer.shown(line).line
    for index in clients.indices where clients[index].isWatching {
      clients[index].stream.send(text)
      guard clients[index].stream.isBehind else { continue }
      Kernel.close(clients[index].stream.descriptor)
      clients[index].number = 0
    }
    clients.removeAll { $0.number == 0 }
  }

  /// Ends all connections and removes the socket.
  public func shutDown() {
    guard !isDown else { return }
    isDown = true
    for client in clients { Kernel.close(client.stream.descriptor) }
    clients = []
    Kernel.close(listener)
    Kernel.unlink(path)
  }

  private var isDown = false

  private func acceptAll() {
    while clients.count < Self.maximumClients {
      let descriptor = unsafe Kernel.accept(listener)
      guard descriptor >= 0 else { return }
      Kernel.fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      Kernel.fcntl(descriptor, F_SETFL, O_NONBLOCK)
      last += 1
      clients.append((last, LineStream(descriptor), false))
    }
  }

  private func read(_ index: Int, _ requests: inout [(Client, ControlRequest)]) {
    while true {
      switch clients[index].stream.next() {
      case .nothing: return
      case .over:
        Kernel.close(clients[index].stream.descriptor)
        clients[index].number = 0
        return
      case .line(let line):
        do {
          requests.append((Client(number: clients[index].number), try ControlRequest(line: line)))
        } catch {
          clients[index].stream.send(ControlAnswer.refused(error.description).line)
        }
      }
    }
  }
}
