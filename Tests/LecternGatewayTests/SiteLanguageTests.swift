import Foundation
import Testing

@testable import LecternGateway

/// The texts of the pages in other languages.
@Suite("Languages of the pages") struct SiteLanguageTests {
    private static let chinese: [String: String] = {
        let bytes = SiteRoutes.files["lectern/languages/zh.json"]?.bytes ?? []
        let file = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return file?["texts"] as? [String: String] ?? [:]
    }()

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\{\w+\}/).map { String($0.output) })
    }

    /// The English texts of a file of the site, but for those of attributes that end with keys, which are left out of them.
    private static func texts(of path: String, _ source: String) -> [String] {
        if path.hasSuffix(".js") {
            return source.matches(of: /\b(?:t|mark)\(\s*"((?:[^"\\]|\\.)*)"/).map { match in
                (try? JSONDecoder().decode(String.self, from: Data("\"\(match.output.1)\"".utf8))) ?? ""
            }
        }
        let markup = source.replacing("&nbsp;", with: "\u{a0}")
        let inside = markup.matches(of: />([^<>]+)</).map { String($0.output.1) }
        let attributes = markup.matches(of: /(?:aria-label|title|placeholder|alt)="([^"]+)"/).map { match in
            String(match.output.1).replacing(#/ \([^()]*\)$/#, with: "")
        }
        return (inside + attributes).map { $0.trimmingCharacters(in: .whitespacesAndNewlines.subtracting(["\u{a0}"])) }
            .filter { $0.contains(/[A-Za-z]{2}/) && !$0.hasPrefix("{") }
    }

    @Test func `every text of the pages has a Chinese one with the same values put in, and there are no others`()
        throws
    {
        var wanted = Set(ErrorPage.texts)
        for (path, bytes) in try SiteFolder.files() where path.hasSuffix(".js") || path.hasSuffix(".html") {
            wanted.formUnion(Self.texts(of: path, String(decoding: bytes, as: UTF8.self)))
        }
        #expect(wanted.count > 300)
        let known = Set(Self.chinese.keys)
        // What is said where no script runs stands there in Chinese, too.
        #expect(wanted.subtracting(known).subtracting(Self.chinese.values).sorted() == [])
        #expect(known.subtracting(wanted).sorted() == [])
        for (english, text) in Self.chinese { #expect(Self.names(in: english) == Self.names(in: text), "\(english)") }
    }

    @Test func `no script says a sentence, or names a control, that has no translation`() throws {
        for (path, bytes) in try SiteFolder.files() where path.hasSuffix(".js") {
            let source = String(decoding: bytes, as: UTF8.self).replacing(#/\/\*[\s\S]*?\*\//#, with: "")
                .replacing(#/(?m)^\s*\/\/.*$/#, with: "")
            let sentences = source.matches(of: /(\b(?:t|mark)\(\s*)?"((?:[^"\\\n]|\\.)*)"/).filter { match in
                match.output.1 == nil && match.output.2.starts(with: /[A-Z][^ ]* [a-z]/)
            }
            #expect(sentences.map { String($0.output.2) } == [], "\(path)")
            let names = source.matches(of: /\b(?:textContent|title|placeholder|ariaLabel|label"|alt)(?: =|:) "([^"]+)"/)
            #expect(names.map { String($0.output.1) } == [], "\(path)")
        }
    }

    @Test(
        "the language is the one that is wanted most among those that are there",
        arguments: [
            ("zh", "zh"), ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("de,zh;q=0.5", "zh"), ("en-US,zh", "en"),
            ("zh;q=0.2,en;q=0.9", "en"),
            ("ZH-hant-TW", "zh"), ("", "en"), ("*", "en"), ("fr", "en"), ("zh;q=0", "en"), (";;q=x,,-,zh", "zh"),
            ("zh;q=", "en"), ("zh;q=nan,zh;q=2", "en"),
        ])
    func choice(asked: String, language: String) throws {
        let file = SiteLanguages().file(for: asked)
        let found = try #require(JSONSerialization.jsonObject(with: Data(file.bytes)) as? [String: Any])
        #expect(found["language"] as? String == language)
    }

    @Test func `a folder adds languages and takes the place of the program's; a file that is none is named`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "languages-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        try write("ar.json", #"{"language":"ar","direction":"rtl","texts":{"Connected":"متصل"}}"#)
        try write("zh.json", #"{"language":"zh","texts":{"{count} strokes":{"other":"{count} 笔画"}}}"#)
        try write("notes.txt", "none")
        let languages = try SiteLanguages(folder: folder.path)
        #expect(String(decoding: languages.file(for: "ar-EG").bytes, as: UTF8.self).contains("متصل"))
        #expect(String(decoding: languages.file(for: "zh").bytes, as: UTF8.self).contains("笔画"))
        #expect(String(decoding: languages.list.bytes, as: UTF8.self) == #"{"languages":["ar","en","zh"]}"#)
        for wrong in [
            "", "[]", #"{"language":"da"}"#, #"{"language":"de","direction":"down","texts":{}}"#,
            #"{"language":"de","texts":{"A":1}}"#,
        ] {
            try write("de.json", wrong)
            #expect(throws: LanguageError.self, "\(wrong)") { try SiteLanguages(folder: folder.path) }
        }
        #expect(throws: LanguageError.self) { try SiteLanguages(folder: folder.path + "/none") }
    }
}
