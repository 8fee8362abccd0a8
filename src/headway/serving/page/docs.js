// Forms that send what is typed; what comes back is shown as text.
const key = document.getElementById("key");

async function answer(form) {
  const out = form.querySelector("pre");
  const method = form.dataset.method.toUpperCase();
  const body = form.querySelector("textarea");
  const headers = {};
  if (key.value) headers.Authorization = `Bearer ${key.value}`;
  if (body) headers["Content-Type"] = "application/json";
  out.textContent = "…";
  try {
    const place = form.querySelector("input").value;
    const url = new URL(place.replace(/^\/+/, ""), new URL(".", location.href));
    if (url.origin !== location.origin) throw new Error("only this service is asked");
    const began = performance.now();
    const got = await fetch(url, { method, headers, body: body?.value });
    const text = await got.text();
    const ms = Math.round(performance.now() - began);
    let shown = text;
    try {
      shown = JSON.stringify(JSON.parse(text), null, 1);
    } catch { /* no JSON: as it came */ }
    out.textContent = `${got.status} in ${ms} ms\n${shown}`;
  } catch (error) {
    out.textContent = String(error);
  }
}

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(form);
  });
}
