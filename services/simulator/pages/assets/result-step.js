// The result of a payment, which replaces the form.

import { textOf } from "./language.js";

/** @typedef {"succeeded" | "processing" | "canceled" | "expired" | "invalid" | "lost" | "unreachable" | "unknown"} State */

/** @param {State} state @param {string | null} [receiptUrl] */
export function showResult(state, receiptUrl) {
  for (const id of ["form", "test-cards"]) document.getElementById(id)?.setAttribute("hidden", "");
  document.getElementById("result").hidden = false;
  document.getElementById("result-icon").className = `result-icon is-${state}`;
  document.getElementById("result-text").textContent = textOf(`${state}Text`);
  const heading = document.getElementById("result-title");
  heading.textContent = textOf(`${state}Title`);
  heading.focus();
  const link = document.getElementById("result-link");
  if (link && receiptUrl) {
    link.href = receiptUrl;
    link.hidden = false;
  }
}
