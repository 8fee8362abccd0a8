/* The service, as the page asks it: always at the address that the page came from. */

import * as store from "./store.js";

/* What the service refuses, in its words. */
export class Refused extends Error {
  constructor(message, status, after = 0) {
    super(message);
    this.status = status;
    this.after = after; // seconds until it may be asked again
  }
}

const MOST_AGAIN = 2;
const MOST_WAIT_S = 5;
let askForKey = null;

/* `f` gets a key from the person: asked once a request is refused for want of one. */
export function onKeyWanted(f) {
  askForKey = f;
}

/* Of a service that has much to do: it says when to come again, and is asked twice more. */
async function ask(path, how = {}) {
  for (let again = 0; ; again += 1) {
    try {
      return await once(path, how);
    } catch (error) {
      if (![429, 503].includes(error.status) || again === MOST_AGAIN) throw error;
      await pause(Math.min(error.after || 1, MOST_WAIT_S) * 1000, how.signal);
    }
  }
}

function pause(milliseconds, signal) {
  return new Promise((done, stop) => {
    signal?.addEventListener("abort", () => stop(signal.reason));
    setTimeout(done, milliseconds);
  });
}

async function once(path, { json, form, method, signal, headers = {} }) {
  const sent = { ...headers };
  const key = store.key();
  if (key) sent["X-API-Key"] = key;
  if (json) sent["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method: method ?? (json || form ? "POST" : "GET"), headers: sent, signal,
    body: json ? JSON.stringify(json) : form, cache: "no-store", redirect: "error",
  });
  if (answer.ok) return answer;
  let told = {};
  try {
    told = await answer.json();
  } catch { /* not from the service itself */ }
  const words = typeof told.error === "string" ? told.error : `${answer.status} ${answer.statusText}`;
  if (answer.status === 403 && askForKey) {
    const given = await askForKey();
    if (given) return ask(path, { json, form, method, signal, headers });
  }
  throw new Refused(words, answer.status, Number(answer.headers.get("retry-after")));
}

export const languages = async () => (await ask("v1/languages")).json();

/* Translations of one request; see `/v1/translate`. */
export async function translate(json, signal) {
  return (await (await ask("v1/translate", { json, signal })).json()).translations;
}

export const inspector = async (json) => (await ask("inspector", { json })).json();

export async function sendFile(file, fields, signal) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", file, file.name);
  return (await ask("v1/review", { form, signal })).json();
}

/* A file that is reviewed: what it is now, edits to it, and the file itself. */
export function reviewed({ id, key }) {
  const path = `v1/review/${encodeURIComponent(id)}`;
  const headers = { "X-Document-Key": key };
  return {
    units: async () => (await ask(path, { headers })).json(),
    edit: async (units) => (await (await ask(path, { headers, json: { units } })).json()).units,
    file: async () => (await ask(`${path}/result`, { headers })).blob(),
    forget: () => ask(`v1/documents/${encodeURIComponent(id)}`, { headers, method: "DELETE" }),
  };
}
