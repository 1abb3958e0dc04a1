// Files of teachers opened by the built `lectern` in its sandbox: images and PDFs, whole, hostile and endless. Files are made
// here byte by byte or by other libraries; each test looks at the pixels or the reason, and at what is left behind.

import AssetOpener
import Assets
import Foundation
import StrokeWire
import TestSupport

/// The built `lectern`, or a program beside it, opens files.
enum Opening {
    static func opener(_ bounds: AssetOpener.Bounds = Opening.bounds) throws -> AssetOpener {
        AssetOpener(program: try path(of: "lectern"), bounds: bounds)
    }

    /// The usual bounds but for the wall clock's: a busy machine gives a child little of its processors.
    static var bounds: AssetOpener.Bounds {
        var bounds = AssetOpener.Bounds()
        bounds.time = .hangLimit
        return bounds
    }

    /// The program beside the test program.
    static func path(of program: String) throws -> String {
        let test = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let path = test.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(program).path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Unexpected("no \(program) at \(path)") }
        return path
    }

    /// Any name: the opener only passes it on.
    static var id: AssetID {
        get throws {
            guard let id = AssetID(hexadecimal: String(repeating: "a", count: 64)) else { throw Unexpected("no name") }
            return id
        }
    }
}

extension AssetOpener {
    func inspect(_ bytes: [UInt8]) async throws -> AssetManifest { try await inspect(bytes, id: try Opening.id) }

    /// Why a file is refused; nil where it is not.
    func refusal(_ bytes: [UInt8]) async throws -> AssetError? {
        let id = try Opening.id
        do throws(AssetError) {
            _ = try await inspect(bytes, id: id)
            return nil
        } catch {
            return error
        }
    }
}

extension AssetError {
    /// Whether the file is to blame.
    var isOfFile: Bool {
        switch self {
        case .unreadable, .tooLarge: true
        default: false
        }
    }
}

extension AssetPixels {
    /// R G B A of a pixel.
    subscript(_ x: Int, _ y: Int) -> [Int] { (0..<4).map { Int(bytes[(y * width + x) * 4 + $0]) } }
}

/// What an opening could leave behind: pipes and files in memory of this process, and children.
struct Leftovers {
    private let all: Set<String>
    /// The process numbers of children.
    let children: Set<String>

    init() throws {
        let (files, folder) = (FileManager.default, "/proc/self/fd")
        let descriptors = try files.contentsOfDirectory(atPath: folder).compactMap { number in
            // Other descriptors are those of timers and of sockets, which come and go.
            (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(number)"))
                .flatMap { $0.hasPrefix("pipe:") || $0.hasPrefix("/memfd:") ? "descriptor \(number): \($0)" : nil }
        }
        children = Set(
            try files.contentsOfDirectory(atPath: "/proc").filter { process in
                // `number (name) state parent …`; the name may contain anything.
                guard Int(process) != nil,
                    let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                    let name = stat.lastIndex(of: ")")
                else { return false }
                let fields = stat[stat.index(after: name)...].split(separator: " ")
                return fields.count > 1 && fields[1] == "\(getpid())"
            })
        all = children.union(descriptors)
    }

    /// Checks that nothing is there that was not there before. What other tests have left may end meanwhile.
    static func expectNone(since before: Leftovers) async throws {
        _ = try await eventually("nothing is left behind") {
            let new = try Leftovers().all.subtracting(before.all)
            guard new.isEmpty else { throw Unexpected("\(new)") }
            return true
        }
    }
}
