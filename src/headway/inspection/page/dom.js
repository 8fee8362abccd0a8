/* Elements, made by the object model: what is text stays text. */

const SVG = "http://www.w3.org/2000/svg";

/* h("button", { class: "x", on: { click: f }, style: { width: "3px" } }, "text", [more]) */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/* The same of SVG. */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, f] of Object.entries(value)) element.addEventListener(event, f);
    } else if (name === "style") {
      for (const [property, one] of Object.entries(value)) element.style.setProperty(property, one);
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0 || child === "").map(
    (child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return element;
}

/* Buttons in a row, one of which is pressed; `options` are [value, text]. */
export function oneOf(label, options, current, choose) {
  return h("div", { class: "choose", role: "group", "aria-label": label }, options.map(([value, text]) => h("button", {
    type: "button", "aria-pressed": String(value === current), on: { click: () => choose(value) },
  }, text)));
}

/* Takes away what is in an element, but for what `keep` leaves out. */
export function clear(element, drop = () => true) {
  for (const child of [...element.childNodes]) {
    if (child.nodeType !== Node.ELEMENT_NODE || drop(child)) child.remove();
  }
}

/* Calls f once when the element comes near the screen, or is to be printed; busy until then. */
export function onceNear(element, f) {
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    watcher.disconnect();
    window.removeEventListener("beforeprint", once);
    element.removeAttribute("aria-busy");
    f();
  };
  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) once();
  }, { rootMargin: "300px" });
  element.setAttribute("aria-busy", "true");
  watcher.observe(element);
  window.addEventListener("beforeprint", once);
}

/* The arrow keys, Home and End move among elements of a row, of which one can be reached by Tab. */
export function roving(container, selector) {
  const all = () => [...container.querySelectorAll(selector)];
  const reach = (chosen) => all().forEach((one) => { one.tabIndex = one === chosen ? 0 : -1; });
  reach(all()[0]);
  container.addEventListener("focusin", (event) => {
    if (event.target.matches(selector)) reach(event.target);
  });
  container.addEventListener("keydown", (event) => {
    const here = all().indexOf(event.target);
    const [next, before] = [here + 1, here - 1];
    const to = { ArrowRight: next, ArrowDown: next, ArrowLeft: before, ArrowUp: before, Home: 0, End: all().length - 1 }[event.key];
    if (here < 0 || to === undefined || !all()[to]) return;
    event.preventDefault();
    all()[to].focus();
  });
}

/* Called before the inside of an element is drawn anew; what it gives is called behind that, and
   gives the focus back to the control in the same place. */
export function keptFocus(element) {
  const all = () => [...element.querySelectorAll("button, select, input, [tabindex]")];
  const here = all().indexOf(document.activeElement);
  return () => { if (here >= 0) all()[here]?.focus({ preventScroll: true }); };
}
