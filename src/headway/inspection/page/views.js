/* The views, in their order on the page. A view is a line here and a module; see main.js. */

import * as sentence from "./sentence.js";

export const VIEWS = [
  { id: "sentence", ...sentence },
];
