/* The server behind a live page: it looks at what is typed. */

export function connect({ sentence, arrived, say, t }) {
  let asked = 0;
  return {
    /* What is not in `change` stays as it is in the sentence that is shown. */
    async ask(change) {
      const number = ++asked;
      const now = sentence();
      const given = { text: now.text, target: now.forced ? now.translation : null,
        off: now.off ?? [], ...change };
      say(t("waiting"));
      try {
        const answer = await fetch("look", {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given),
        });
        const found = await answer.json();
        if (number !== asked) return;
        if (!answer.ok) throw new Error(found.error);
        say("");
        arrived(found);
      } catch (error) {
        if (number === asked) say(t("failed", { why: error.message }));
      }
    },
    /* What the server has of a run, such as "training". */
    async fetch(name) {
      const answer = await fetch(name);
      if (!answer.ok) throw new Error((await answer.json()).error);
      return answer.json();
    },
  };
}
