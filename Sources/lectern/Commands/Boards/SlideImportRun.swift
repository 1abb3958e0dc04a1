import ArgumentParser
import Assets
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern import` of a PDF or a picture.
struct SlideImportRun: Sendable {
    /// The file's name, for messages.
    let name: String
    let format: AssetFormat
    let bytes: [UInt8]
    let password: PasswordOptions
    let rotations: [SlideRotation]
    let form: SlideImport.Form
    let room: RoomOptions
    let author: AuthorID
    let time: Int64?
    let publishing: PublishingOptions

    private struct Result: Sendable {
        let id: AssetID
        let all: Int
        let pages: [Int]
        /// Why not all pages were made.
        let failure: PageError?
    }

    /// Sends the file, writes the pages and prints the summary.
    func run(over connection: ConnectionOptions) async throws {
        let nats = try await connection.connect(as: "lectern import")
        let interrupts = await InterruptHandler()
        let start = ContinuousClock.now
        let result: Result
        do {
            result = try await interrupts.run { try await bring(over: nats, connection) }
        } catch {
            await nats.close()
            if !(error is ExitCode) {
                // As with errors of files that this command reads itself.
                let code =
                    if case .refused(let refusal)? = error as? AssetUploadError { "\(refusal.error.code): " } else {
                        ""
                    }
                StandardError.write("lectern: \(name): \(code)\(error)")
            }
            throw interrupts.exitCode ?? ExitCode.failed
        }
        await nats.drain()
        StandardOutput.write(summary(of: result, duration: start.duration(to: .now)))
        guard let failure = result.failure else { return }
        if let signal = interrupts.signal {
            StandardError.write("lectern: ended by \(signal.name)")
        } else {
            StandardError.write("lectern: \(failure)")
        }
        throw interrupts.exitCode ?? ExitCode.failed
    }

    private func bring(over nats: NATSConnection, _ connection: ConnectionOptions) async throws -> Result {
        // Before the file is sent for nothing.
        let settings = try await room.settings(over: nats)
        try SlideImport.check(settings, as: form, rotates: !rotations.isEmpty)
        let answer = try await sendAsking(over: nats)
        let slides = try slides(answer)
        let pages = slides.pages.count == 1 ? "1 page" : "\(slides.pages.count) pages"
        StandardError.write("\(name): \(format.rawValue), \(pages) for a board of \(settings.sizeText)")
        for page in slides.blank { StandardError.write("\(name): page \(page + 1) has no size and is blank paper") }
        var writer = OperationWriter(
            connection: nats, address: room.address, author: author, answerTimeout: publishing.answerTimeout,
            logger: connection.logger)
        var isLineOpen = false
        defer { if isLineOpen { StandardError.write("") } }
        // The file is there: from now on it goes fast.
        let time = try await room.stamp(time, over: nats)
        do throws(PageError) {
            let made = try await slides.run(with: &writer, at: time) { made, all in
                guard !publishing.quiet else { return }
                try? FileHandle.standardError.write(contentsOf: Data("\r\(made) of \(all) pages".utf8))
                isLineOpen = true
            }
            return Result(id: slides.id, all: slides.pages.count, pages: made, failure: nil)
        } catch .incomplete(let made, let why) {
            return Result(
                id: slides.id, all: slides.pages.count, pages: made, failure: .incomplete(pages: made, why))
        }
    }

    /// What the service has made of the file, with the rotations that are wanted.
    private func slides(_ answer: [UInt8]) throws -> SlideImport {
        let summary = try AssetUpload.Summary(decoding: answer)
        guard var slides = SlideImport(summary) else { throw AssetUploadError.malformed }
        slides.form = form
        // What is said of one page counts more than what is said of all.
        for order in rotations.sorted(by: { $0.page ?? 0 < $1.page ?? 0 }) {
            for place in slides.pages.indices where order.page ?? (place + 1) == place + 1 {
                slides.rotations[place] = order.rotation
            }
        }
        return slides
    }

    /// Sends the file, again with a password where one is needed and somebody gives it.
    private func sendAsking(over nats: NATSConnection) async throws -> [UInt8] {
        do {
            return try await send(try password.given(), over: nats)
        } catch let error as AssetUploadError {
            guard case .refused(let refusal) = error, refusal.error.code == AssetError.needsPassword.code,
                let password = password.asked(for: name)
            else { throw error }
            return try await send(password, over: nats)
        }
    }

    private func send(_ password: String?, over nats: NATSConnection) async throws -> [UInt8] {
        let whole = AsyncStream([UInt8].self) { stream in
            stream.yield(bytes)
            stream.finish()
        }
        return try await AssetUploader(connection: nats).upload(
            whole, length: bytes.count, password: password, to: room.address)
    }

    private func summary(of result: Result, duration: Duration) -> String {
        let list = result.pages.map(String.init)
        if publishing.json {
            var line = JSONLine()
            line.add("id", result.id.description)
            line.add("pages", json: Array("[\(list.joined(separator: ","))]".utf8))
            line.add("milliseconds", Int(duration / .milliseconds(1)))
            line.add("complete", result.failure == nil)
            return String(decoding: line.closed, as: UTF8.self)
        }
        let seconds = String(format: "%.1f", duration / .seconds(1))
        return """
            asset        \(result.id)
            pages        \(result.pages.count) of \(result.all) in \(seconds) s: \(list.joined(separator: " "))
            """
    }
}
