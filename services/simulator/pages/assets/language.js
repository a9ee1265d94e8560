// The buyer's language: the page comes in the one that the browser prefers; the page that frames it may name another,
// whose texts are then put in place of these.

import { deadline } from "./deadline.js";

let { locale, texts } = JSON.parse(document.getElementById("texts").textContent);

/** BCP 47, for Intl. */
export const localeTag = () => locale;

/** A text in the buyer's language, with values put into its `{names}`. */
export function textOf(name, values = {}) {
  return texts[name].replace(/\{(\w+)\}/g, (all, value) => values[value] ?? all);
}

const textsMs = 5_000; // some 2 kB; a form in another language is better than none

/** @param {unknown} wanted BCP 47 tag; one that we do not speak, or whose texts do not come, changes nothing */
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
