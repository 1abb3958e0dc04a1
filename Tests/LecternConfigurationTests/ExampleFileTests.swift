import Foundation
import TestSupport
import Testing

@testable import LecternConfiguration

@Suite("config/lectern.yaml") struct ExampleFileTests {
    let path = PackageRoot.path(to: "config/lectern.yaml")
    let file: ConfigurationFile

    init() throws {
        file = try ConfigurationFile(path: path)
    }

    @Test("It has every key and no other")
    func keys() {
        #expect(file.outline.faults.isEmpty)
        #expect(Set(file.outline.lines.keys) == Set(DaemonConfiguration.keys))
        #expect(file.outline.cohorts.isEmpty)
    }

    @Test("Its keys come in the order of the reference")
    func order() {
        let inOrder = DaemonConfiguration.keys.sorted {
            file.outline.lines[$0, default: 0] < file.outline.lines[$1, default: 0]
        }
        #expect(inOrder == DaemonConfiguration.keys)
    }

    @Test("Its values are the defaults")
    func values() throws {
        #expect(try DaemonConfiguration.load(file: path) == DaemonConfiguration())
    }

    @Test("Its values are written as the reference writes them", arguments: DaemonConfiguration.settings.map(\.key))
    func texts(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        let sources = SettingSources(file: file, environment: [:], arguments: [:])
        let value = try #require(try sources.value(of: key, isList: setting.isList))
        #expect(value.text == setting.text(DaemonConfiguration()))
    }

    @Test(
        "Each key has a comment that names the bounds of its range", arguments: DaemonConfiguration.settings.map(\.key))
    func comments(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        let line = try #require(file.outline.lines[key])
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let own = lines[..<(line - 1)].reversed().drop { !$0.contains("#") && key == "board.height" }
        let comment = own.prefix { $0.contains("#") }.reversed().joined(separator: " ")
        #expect(!comment.isEmpty)
        if setting.notation == "flag" || setting.notation == "word" {
            for word in setting.range.split(separator: " | ") {
                #expect(comment.contains(word))
            }
        } else if setting.range.contains(" … "), setting.notation != "name", setting.key != "palette" {
            let bounds = setting.range.replacing("0, or ", with: "").replacing("…", with: "...")
            #expect(comment.contains(bounds))
        }
    }
}
