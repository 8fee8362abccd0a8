/* The views, in their order on the page. A view is a line here and a module; see main.js. */

import * as attention from "./attention.js";
import * as cells from "./cells.js";
import * as beams from "./beams.js";
import * as changes from "./changes.js";
import * as compared from "./compared.js";
import * as gates from "./gates.js";
import * as heads from "./heads.js";
import * as ideas from "./ideas.js";
import * as layers from "./layers.js";
import * as learning from "./learning.js";
import * as sentence from "./sentence.js";
import * as shapes from "./shapes.js";
import * as steps from "./steps.js";
import * as training from "./training.js";

export const VIEWS = [
  { id: "sentence", ...sentence },
  { id: "compared", ...compared },
  { id: "attention", ...attention },
  { id: "heads", ...heads },
  { id: "cells", ...cells },
  { id: "layers", ...layers },
  { id: "gates", ...gates },
  { id: "steps", ...steps },
  { id: "beams", ...beams },
  { id: "changes", ...changes },
  { id: "ideas", ...ideas },
  { id: "shapes", ...shapes },
  { id: "training", ...training },
  { id: "learning", ...learning },
];
