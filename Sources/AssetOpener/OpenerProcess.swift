internal import Assets
internal import CAssetOpener

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// What a child is to do.
struct ChildRequest {
    enum Operation: String {
        case inspect
        case decrypt
        case pixels
        case png
    }

    var operation: Operation
    var format: AssetFormat
    /// From 0; of an inspection, the last one whose size is of interest.
    var page: Int
    /// Of the picture, in pixels.
    var width = 0
    var height = 0
    /// Of a PDF, across and down, in dots an inch: of the page as it is shown.
    var resolution: (x: Double, y: Double) = (0, 0)
    /// Of a PDF that is decrypted; a line of text.
    var password: String?
    /// Of a PDF: whether the media box is shown, and not the crop box.
    var showsMediaBox = false

    /// The arguments after the program's name.
    func arguments(_ bounds: AssetOpener.Bounds) -> [String] {
        let numbers = [
            Int(getpid()), bounds.memory, Int(bounds.processorTime.components.seconds),
            // The child's own alarm, should this process stand still.
            Int(bounds.time.components.seconds) + 2, AssetLimits.pagePixels, page, width, height,
            Self.nanodots(resolution.x), Self.nanodots(resolution.y), showsMediaBox ? 1 : 0,
        ]
        return [AssetOpener.command, operation.rawValue, format.rawValue] + numbers.map(String.init)
    }

    /// - Parameter resolution: in dots an inch; of a page that is next to nothing, more than any number holds.
    private static func nanodots(_ resolution: Double) -> Int { Int(min(resolution * 1e9, 9e18)) }

    /// The most bytes that a right answer can have.
    var mostOutput: Int {
        switch operation {
        // pdfinfo prints seven lines a page, and the title.
        case .inspect: 512 << 10
        // What has more than a file may have is found when it is inspected.
        case .decrypt: AssetLimits.bytes + (1 << 20)
        // A file of pixels that cannot be compressed is a little larger than they are.
        case .pixels, .png: width * height * 4 + width * height / 256 + (64 << 10)
        }
    }
}

/// One child, from its start to its end. Blocks its thread.
struct OpenerProcess {
    private let identifier: Int32
    private let outputPipe: Int32
    private let errorPipe: Int32
    private let deadline: ContinuousClock.Instant
    private let mostOutput: Int
    private var output: [UInt8] = []
    /// The beginning of what it says on standard error.
    private var complaint: [UInt8] = []

    private static let mostComplaint = 4096
    /// Between looks at whether the result is still wanted.
    private static let interval: Duration = .milliseconds(50)

    /// Starts a program.
    init(
        _ program: String, _ request: ChildRequest, _ bytes: [UInt8], _ bounds: AssetOpener.Bounds
    ) throws(AssetError) {
        var arguments = ([program] + request.arguments(bounds)).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pipes: (output: Int32, error: Int32) = (-1, -1)
        deadline = .now + bounds.time
        mostOutput = request.mostOutput
        let secret = request.password.map { Array($0.utf8) }
        identifier = lectern_asset_spawn(
            program, &arguments, bytes, bytes.count, secret, secret?.count ?? 0, &pipes.output, &pipes.error)
        guard identifier > 0 else {
            throw .noSandbox("no process can be started: \(String(cString: strerror(-identifier)))")
        }
        (outputPipe, errorPipe) = pipes
    }

    /// Reads to the child's end, or ends it at its bounds.
    /// - Parameter isCancelled: asked some times a second.
    /// - Throws: `.unreadable`, `.tooLarge`, `.noSandbox`.
    mutating func output(_ isCancelled: () -> Bool) throws(AssetError) -> [UInt8] {
        let isWhole = readPipes(isCancelled)
        close(outputPipe)
        close(errorPipe)
        let isPunctual = isWhole && output.count <= mostOutput
        let status = end(waiting: isPunctual)
        guard output.count <= mostOutput else { throw .unreadable("its reader writes without end") }
        guard isPunctual, let status else { throw .unreadable("it takes too long to read") }
        if let error = error(status) { throw error }
        return output
    }

    /// - Returns: whether both pipes were closed in time, with no more than ``mostOutput``.
    private mutating func readPipes(_ isCancelled: () -> Bool) -> Bool {
        var pipes = [outputPipe, errorPipe].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while pipes.contains(where: { $0.fd >= 0 }) {
            guard .now < deadline, !isCancelled() else { return false }
            guard poll(&pipes, nfds_t(pipes.count), Int32(Self.interval / .milliseconds(1))) > 0 else { continue }
            for position in pipes.indices where pipes[position].fd >= 0 && pipes[position].revents != 0 {
                let count = read(pipes[position].fd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    pipes[position].fd = -1
                    continue
                }
                if position == 0 {
                    output += buffer[..<count]
                    guard output.count <= mostOutput else { return false }
                } else {
                    complaint += buffer[..<min(count, Self.mostComplaint - complaint.count)]
                }
            }
        }
        return true
    }

    /// Waits for the child's end.
    /// - Parameter isPunctual: false to end it at once; it has until the deadline otherwise.
    /// - Returns: the status of `waitpid`; nil where the child was ended.
    private func end(waiting isPunctual: Bool) -> Int32? {
        var status: Int32 = 0
        while isPunctual, .now < deadline {
            let process = waitpid(identifier, &status, WNOHANG)
            if process == identifier { return status }
            if process < 0, errno != EINTR { return nil }
            // It has closed its output, so that its end is near.
            usleep(500)
        }
        kill(identifier, SIGKILL)
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return nil
    }

    /// - Parameter status: of `waitpid`.
    private func error(_ status: Int32) -> AssetError? {
        switch status & 0x7F {
        case 0: break
        case SIGXCPU, SIGALRM: return .unreadable("it takes too long to read")
        case SIGKILL, SIGABRT: return .tooLarge("it needs too much memory")
        case let signal: return .unreadable("its reader ended with signal \(signal)")
        }
        switch UInt32(status >> 8) & 0xFF {
        case 0: return nil
        case lectern_asset_too_large.rawValue: return .tooLarge(reason)
        case lectern_asset_no_sandbox.rawValue: return .noSandbox(reason)
        default:
            // As pdfinfo and qpdf say it.
            let isLocked = ["Incorrect password", "invalid password"].contains { reason.hasSuffix($0) }
            return isLocked ? .needsPassword : .unreadable(reason)
        }
    }

    /// The last line on standard error that says something, in printable ASCII.
    private var reason: String {
        let lines = complaint.split(separator: UInt8(ascii: "\n"))
        guard let last = lines.last else { return "its reader gives no reason" }
        let printable = last.prefix(200).map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }
        return String(decoding: printable, as: UTF8.self)
    }
}
