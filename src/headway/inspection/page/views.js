/* The views, in their order on the page. A view is a line here and a module; see main.js. */

import * as attention from "./attention.js";
import * as cells from "./cells.js";
import * as beams from "./beams.js";
import * as changes from "./changes.js";
import * as ideas from "./ideas.js";
import * as lens from "./lens.js";
import * as sentence from "./sentence.js";
import * as steps from "./steps.js";
import * as training from "./training.js";

export const VIEWS = [
  { id: "sentence", ...sentence },
  { id: "attention", ...attention },
  { id: "cells", ...cells },
  { id: "lens", ...lens },
  { id: "steps", ...steps },
  { id: "beams", ...beams },
  { id: "changes", ...changes },
  { id: "ideas", ...ideas },
  { id: "training", ...training },
];
