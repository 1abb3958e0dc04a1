internal import Foundation

/// A test's own certificate authority and its certificates, made with `openssl`: PEM files in a directory that `remove`
/// deletes.
package struct TestCertificates: Sendable {
    package struct Failure: Error {
        package let arguments: [String]
        package let output: String
    }

    private let directory: URL

    /// - Parameter serverNames: the subject alternative names of the server's certificate.
    package init(serverNames: String = "IP:127.0.0.1,DNS:localhost") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Self.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=Test authority", "-keyout", path("ca.key"), "-out", path("ca.pem"),
        ])
        try sign("server", extensions: "subjectAltName=\(serverNames)")
        try sign("client", extensions: "extendedKeyUsage=clientAuth")
    }

    /// The authority's certificate.
    package var authority: String { path("ca.pem") }
    /// A client's certificate and key.
    package var client: (certificate: String, key: String) { (path("client.pem"), path("client.key")) }

    /// The configuration of a server that requires TLS, and with `verify` a client's certificate.
    package func serverConfiguration(verify: Bool = false) -> String {
        """
        tls: {
          cert_file: "\(path("server.pem"))", key_file: "\(path("server.key"))", ca_file: "\(authority)", verify: \(verify)
        }

        """
    }

    package func remove() {
        try? FileManager.default.removeItem(at: directory)
    }

    private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    private func sign(_ name: String, extensions: String) throws {
        try Data(extensions.utf8).write(to: URL(fileURLWithPath: path("\(name).ext")))
        try Self.run([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", path("\(name).key"), "-out", path("\(name).csr"),
        ])
        try Self.run([
            "x509", "-req", "-in", path("\(name).csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", path("\(name).ext"), "-out", path("\(name).pem"),
        ])
    }

    private static func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(arguments: arguments, output: String(decoding: data, as: UTF8.self))
        }
    }
}
