internal import Foundation

/// A run of calls as one text, and what runs it on `lectern.wasm` in a browser or Node.
package enum CoreTape {
    /// Lines of the function, the time, the numbers and the input in base64.
    package static func text(_ calls: [CoreCall]) -> String {
        calls.map { call in
            ([call.function.rawValue, text(call.time)] + call.numbers.map(text)
                + [Data(call.input).base64EncodedString()]).joined(separator: " ")
        }.joined(separator: "\n")
    }

    /// As `Number` reads it, to the bit but for the sign of NaN.
    private static func text(_ number: Double) -> String {
        number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
    }

    /// JavaScript: the function `play(module, tape)` calls a new instance, and returns `{hashes, trap, bytes}`: the hash of each
    /// call, why the one after them failed, or null, and the instance's memory.
    package static let player = """
        function play(module, tape) {
            let [time, state] = [0, 1];
            const page = {
                now: () => time,
                random: (address, count) => {
                    const bytes = new Uint8Array(exports.memory.buffer, address, count);
                    for (let at = 0; at < count; at++) bytes[at] = state = (Math.imul(state, 1103515245) + 12345) & 255;
                },
            };
            const { exports } = new WebAssembly.Instance(module, { page });
            exports._initialize?.();
            const number = new DataView(new ArrayBuffer(8));
            const hashes = [];
            for (const line of tape.split("\\n")) {
                const [name, at, ...values] = line.split(" ");
                const input = Uint8Array.from(atob(values.pop()), (letter) => letter.charCodeAt(0));
                time = Number(at);
                try {
                    if (input.length > 0) {
                        // The memory may grow, and is another buffer then.
                        const address = exports.input(input.length);
                        new Uint8Array(exports.memory.buffer, address, input.length).set(input);
                    }
                    number.setFloat64(0, exports[name](...values.map(Number)) ?? 0, true);
                    let hash = 0x811c9dc5;
                    const add = (word) => (hash = Math.imul(hash ^ word, 0x01000193));
                    add(number.getUint32(0, true));
                    add(number.getUint32(4, true));
                    const output = new DataView(exports.memory.buffer, exports.output(), exports.outputSize());
                    for (let place = 0; place < output.byteLength; place += 4) add(output.getUint32(place, true));
                    hashes.push(hash >>> 0);
                } catch (error) {
                    return { hashes, trap: `${name}: ${error}\\n${error.stack}`, bytes: exports.memory.buffer.byteLength };
                }
            }
            return { hashes, trap: null, bytes: exports.memory.buffer.byteLength };
        }
        """
}
