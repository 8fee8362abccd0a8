/* The service, as the page asks it: always at the address that the page came from. */

import * as store from "./store.js";

/* What the service refuses, in its words. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let askForKey = null;

/* `f` gets a key from the person: asked once a request is refused for want of one. */
export function onKeyWanted(f) {
  askForKey = f;
}

async function ask(path, { json, form, method, signal, headers = {} } = {}) {
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
  throw new Refused(words, answer.status);
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
