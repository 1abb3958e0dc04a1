extension BrowserWindow {
    /// What the scripts of tests have at hand, each time one is run in a page. Places are CSS pixels.
    static let scriptLibrary = """
        const $ = (id) => document.getElementById(id);
        const wait = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds));
        const until = async (isSo) => { while (!isSo()) await wait(); };
        /** Until the page was painted, and what that has caused is done. */
        const nextFrames = async (count = 2) => {
            while (count-- > 0) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        };
        /** A canvas of that width at the end of the page, for a board. */
        const newCanvas = (width, id = "") => {
            const canvas = Object.assign(document.createElement("canvas"), { id });
            canvas.style.width = width;
            document.body.append(canvas);
            return canvas;
        };
        const valuesOf = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        /** How many pixels have ink, and how many have a colour. */
        const inkOf = (canvas) => valuesOf(canvas).reduce((sum, value, place) => sum + (place % 4 === 3 && value > 0 ? 1 : 0), 0);
        const pixelsOf = (canvas, red, green, blue) => {
            const values = valuesOf(canvas);
            let count = 0;
            for (let at = 0; at < values.length; at += 4) {
                if (values[at + 3] === 255 && values[at] === red && values[at + 1] === green && values[at + 2] === blue) count++;
            }
            return count;
        };
        /** Whether there is ink at a place of the window. */
        const isInked = (canvas, x, y) => {
            const { left, top, width } = canvas.getBoundingClientRect();
            const [across, down] = [x - left, y - top].map((length) => Math.floor((length * canvas.width) / width));
            return canvas.getContext("2d").getImageData(across, down, 1, 1).data[3] > 0;
        };
        /** By how many pixels the page is wider than its window; and what of a selector is seen and too small for a finger. */
        const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
        const small = (selector, least = 44, low = least) => [...document.querySelectorAll(selector)].filter((target) => {
            const { width, height } = target.getBoundingClientRect();
            return width > 0 && (width < least || height < low);
        }).map((target) => target.id || target.title || target.ariaLabel);
        /** Notes the bodies of what is sent to addresses with an end. */
        const noteBodies = (gateway, end, note) => {
            const request = gateway.request.bind(gateway);
            gateway.request = (path, options) => {
                if (path.endsWith(end)) note(JSON.parse(options.body));
                return request(path, options);
            };
            return gateway;
        };
        const press = (target, key, more) =>
            target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
        const set = (field, value, type = "input") => {
            field.value = value;
            field.dispatchEvent(new Event(type));
        };
        /** Tells an element of a pointer, from its upper left corner: a mouse whose first button is held, unless `more` says otherwise. */
        const point = (target, type, x, y, more) => {
            const { left, top } = target.getBoundingClientRect();
            target.dispatchEvent(new PointerEvent(type, {
                pointerId: 1, pointerType: "mouse", isPrimary: true, button: type === "pointermove" ? -1 : 0,
                buttons: type === "pointerup" ? 0 : 1, bubbles: true, cancelable: true, clientX: left + x, clientY: top + y, ...more,
            }));
        };
        """
}
