#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension NATSTestServer {
    /// Starts a cluster with JetStream. It has elected no leader yet: ask until it answers.
    public static func cluster(of count: Int) async throws -> [NATSTestServer] {
        let ports = freePorts(count)
        let routes = ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        var servers: [NATSTestServer] = []
        do {
            for (number, port) in ports.enumerated() {
                let configuration = """
                    server_name: node\(number)
                    cluster: { name: class, listen: "127.0.0.1:\(port)", routes: [\(routes)] }
                    """
                servers.append(try await NATSTestServer(jetStream: true, configuration: configuration))
            }
        } catch {
            for server in servers { await server.remove() }
            throw error
        }
        return servers
    }

    /// Runs a body with a cluster and removes it afterwards, also when the body throws.
    public static func withCluster<Result: Sendable>(
        of count: Int, _ body: @Sendable ([NATSTestServer]) async throws -> Result
    ) async throws -> Result {
        let servers = try await cluster(of: count)
        do {
            let result = try await body(servers)
            for server in servers { await server.remove() }
            return result
        } catch {
            for server in servers { await server.remove() }
            throw error
        }
    }

    /// Ports of 127.0.0.1 that nobody listened on a moment ago.
    private static func freePorts(_ count: Int) -> [UInt16] {
        // All open at the same time, so that no port comes twice.
        let sockets = (0..<count).map { _ in boundSocket() }
        defer { for (descriptor, _) in sockets { close(descriptor) } }
        return sockets.map(\.port)
    }

    private static func boundSocket() -> (descriptor: Int32, port: UInt16) {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = bind(descriptor, generic, length)
                _ = getsockname(descriptor, generic, &length)
            }
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
