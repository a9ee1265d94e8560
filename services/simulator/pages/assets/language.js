// The buyer's language. The server renders the browser's preferred one; the framing page may choose another, whose
// texts then replace them.

import { deadline } from "./deadline.js";

let { locale, texts } = JSON.parse(document.getElementById("texts").textContent);

/** BCP 47, for Intl. */
export const localeTag = () => locale;

export function textOf(name, values = {}) {
  return texts[name].replace(/\{(\w+)\}/g, (all, value) => values[value] ?? all);
}

const textsMs = 5_000; // some 2 kB; a form in another language is better than none

/** @param {unknown} wanted BCP 47 tag; an unknown one changes nothing */
export async function speak(wanted) {
  if (typeof wanted !== "string" || !/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(wanted)) return;
  const code = wanted.split("-")[0].toLowerCase();
  if (code !== locale.split("-")[0]) {
    const answer = await fetch(`/assets/texts-${code}.json`, { signal: deadline(textsMs) }).catch(() => {});
    if (!answer?.ok) return;
    texts = await answer.json();
  }
  locale = wanted;
  document.documentElement.lang = wanted;
  document.documentElement.dir = code === "ar" ? "rtl" : "ltr";
  document.title = textOf("title");
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = textOf(element.dataset.text);
  for (const input of document.querySelectorAll("[data-hint]")) input.placeholder = textOf(input.dataset.hint);
}
