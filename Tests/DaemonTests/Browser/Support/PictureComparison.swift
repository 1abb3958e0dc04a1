import Foundation
import TestSupport

extension LecternProcess {
    /// The service's picture of a lesson without paper, as PNG in base64.
    /// - Parameters:
    ///   - style: as in the settings, with its tip behind a hyphen.
    ///   - asset: a file that its images show; nil for frames.
    static func picture(
        of lesson: [UInt8], _ style: String, width: Int, asset: [UInt8]? = nil
    ) async throws -> String {
        let folder = try TestFiles.folder("picture")
        let (source, output) = (folder.path + "/lesson.ndjson", folder.path + "/board.png")
        try Data(lesson).write(to: URL(filePath: source))
        var assets: [String] = []
        if let asset {
            assets = ["--asset", folder.path + "/asset.png"]
            try Data(asset).write(to: URL(filePath: assets[1]))
        }
        let ink = style.split(separator: "-").map(String.init)
        let options = ["--style", ink[0], "--tip", ink.count > 1 ? ink[1] : "round", "--width", "\(width)"]
        let rendered = try await run(arguments: ["render", source, "-o", output, "--transparent"] + options + assets)
        guard rendered.exitCode == 0 else { throw Unexpected(rendered.log) }
        return try Data(contentsOf: URL(filePath: output)).base64EncodedString()
    }
}

extension BrowserWindow {
    /// Functions for scripts: `differences(canvas, file)`: how many values of a canvas differ from those of a picture of the
    /// service without paper, a PNG in base64; -1 where the sizes differ. `unequal(one, other)` of two canvases.
    static let pictureComparison = """
        const unequal = (one, other) => {
            if (one.width !== other.width || one.height !== other.height) return -1;
            const [a, b] = [valuesOf(one), valuesOf(other)];
            return a.reduce((sum, value, place) => sum + (value === b[place] ? 0 : 1), 0);
        };
        // Browsers multiply the colours of a picture by its alpha in another way than those of pixels that are put.
        const pictureOf = async (file) => {
            const bytes = Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0));
            const view = new DataView(bytes.buffer);
            const chunks = {};
            for (let at = 8; at < bytes.length; at += 12 + view.getUint32(at)) {
                const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
                (chunks[name] ??= []).push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
            }
            const [header] = chunks.IHDR;
            const headerView = new DataView(header.buffer, header.byteOffset);
            const [width, height, kind] = [headerView.getUint32(0), headerView.getUint32(4), header[9]];
            const stream = new Blob(chunks.IDAT).stream().pipeThrough(new DecompressionStream("deflate"));
            const rows = new Uint8Array(await new Response(stream).arrayBuffer());
            const each = { 2: 3, 3: 1, 6: 4 }[kind];
            const image = new ImageData(width, height);
            for (let y = 0, from = 0, to = 0; y < height; y++) {
                if (rows[from++] !== 0) throw new Error("a row is filtered");
                for (let x = 0; x < width; x++, from += each, to += 4) {
                    if (kind === 3) {
                        image.data.set(chunks.PLTE[0].subarray(3 * rows[from], 3 * rows[from] + 3), to);
                        image.data[to + 3] = chunks.tRNS?.[0][rows[from]] ?? 255;
                    } else {
                        image.data.set(rows.subarray(from, from + each), to);
                        if (kind === 2) image.data[to + 3] = 255;
                    }
                }
            }
            const canvas = Object.assign(document.createElement("canvas"), { width, height });
            canvas.getContext("2d").putImageData(image, 0, 0);
            return canvas;
        };
        const differences = async (canvas, file) => unequal(canvas, await pictureOf(file));
        const idle = async (...painters) => {
            while (painters.some(({ progress }) => progress < 1)) await wait(2);
        };
        """
}
