/** Says so where a browser cannot show these pages. For browsers of any age: no module, and no newer syntax than ES5. */
(function () {
    "use strict";
    var home = document.currentScript && document.currentScript.src.replace(/(assets\/[^\/]+\/)?pages\/needs\.js$/, "");
    var words = mark("This browser is too old for this page. Use Chrome, Edge, Firefox or Safari of the year 2023 or later; on a telephone or tablet, update its system. The link that you have opens there as well.");
    var needed = [
        "noModule" in document.createElement("script"), window.ReadableStream, window.TextDecoder, window.URLSearchParams,
        Array.prototype.at, Array.prototype.findLast, String.prototype.replaceAll, window.AbortSignal && window.AbortSignal.timeout
    ];
    // A vector of 16 bytes, and one of its lanes.
    var vectors = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
    needed.push(window.WebAssembly && window.WebAssembly.validate(new Uint8Array(vectors)));
    var isTold = false;
    /** Marks a text that is translated, as in language.js. */
    function mark(text) {
        return text;
    }
    function translate(place) {
        var request = new XMLHttpRequest();
        request.onload = function () {
            var found = JSON.parse(request.responseText);
            if (!found.texts[words]) return;
            place.lang = found.language;
            place.dir = found.direction || "ltr";
            place.textContent = found.texts[words];
        };
        request.open("GET", home + "language.json" + location.search);
        request.send();
    }
    function tell() {
        if (isTold) return;
        isTold = true;
        // The page's own scripts, which may get on for a while, do not begin: see common.js.
        document.documentElement.setAttribute("data-browser", "old");
        var place = document.getElementById("waiting");
        if (!place) {
            place = document.createElement("p");
            place.className = "notice";
            document.body.insertBefore(place, document.body.children[1] || null);
        }
        place.setAttribute("role", "alert");
        place.removeAttribute("data-done");
        place.textContent = words;
        if (home) translate(place);
    }
    for (var i = 0; i < needed.length; i++) {
        if (!needed[i]) return tell();
    }
    // A script in newer syntax than it can read.
    window.addEventListener("error", function (event) {
        if (/SyntaxError/.test(event.message || "")) tell();
    });
})();
