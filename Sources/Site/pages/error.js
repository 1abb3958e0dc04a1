/** The page of an error: in the reader's language, but for what the server says of it. */

import { loading, translate } from "../lectern/language.js";

await loading;
translate(document);
