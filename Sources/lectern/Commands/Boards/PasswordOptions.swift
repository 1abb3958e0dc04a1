import ArgumentParser
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Where the password of an encrypted PDF comes from: an argument, a file, or who sits at the terminal.
struct PasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The password of an encrypted PDF. Others on this machine see it in the list of processes: rather let the "
                + "command ask for it, or use --password-file.",
            valueName: "text"))
    var password: String?

    @Option(help: ArgumentHelp("A file whose first line is the password; `-` for standard input.", valueName: "file"))
    var passwordFile: String?

    func validate() throws {
        if password != nil, passwordFile != nil {
            throw ValidationError("--password and --password-file exclude each other.")
        }
    }

    /// The password that is given; nil where none is. Ends the command with status 1 where the file cannot be read.
    func given() throws -> String? {
        guard let passwordFile else { return password }
        if passwordFile == "-" { return readLine() ?? "" }
        let text = String(decoding: try endingCommand { try ImportFile.contents(of: passwordFile) }, as: UTF8.self)
        return String(text.prefix { !$0.isNewline })
    }

    /// Asks at the terminal, where the password is not shown; nil without one, or where a password is given already.
    func asked(for file: String) -> String? {
        guard password == nil, passwordFile == nil, let terminal = fopen("/dev/tty", "r+") else { return nil }
        defer { fclose(terminal) }
        var settings = termios()
        guard tcgetattr(fileno(terminal), &settings) == 0 else { return nil }
        var silent = settings
        // Ctrl-C would leave the terminal silent: it ends the line, and is sent on when that is over.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        let interrupt = withUnsafeMutableBytes(of: &silent.c_cc) { keys in
            keys[Int(VEOL)] = keys[Int(VINTR)]
            return keys[Int(VINTR)]
        }
        fputs("The password of \(file): ", terminal)
        fflush(terminal)
        tcsetattr(fileno(terminal), TCSAFLUSH, &silent)
        var line = [UInt8](repeating: 0, count: 2048)
        let count = read(fileno(terminal), &line, line.count)
        tcsetattr(fileno(terminal), TCSAFLUSH, &settings)
        fputs("\n", terminal)
        guard count > 0 else { return nil }
        guard interrupt == 0 || line[count - 1] != interrupt else {
            kill(getpid(), SIGINT)
            return nil
        }
        return String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
