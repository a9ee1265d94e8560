// Calls the processor from the card form and the challenge page. Secrets are sent in bodies only, never in a URL.
import { deadline } from "./deadline.js";
import { localeTag } from "./language.js";

const answerMs = 30_000; // a slow card takes 6 s; a phone on a bad network some more

/** @returns {Promise<{status: number, body: any}>} @throws without an answer; the outcome is unknown */
export async function ask(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    credentials: "omit",
    referrerPolicy: "no-referrer",
    signal: deadline(answerMs),
  });
  return { status: response.status, body: await response.json() };
}

/** "€10.50" from an integer of minor units, with the currency's decimals by ISO 4217. */
export function amountText({ amount, currency, exponent }) {
  const digits = String(amount).padStart(exponent + 1, "0");
  const text = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
  const decimals = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  return new Intl.NumberFormat(localeTag(), { style: "currency", currency, ...decimals }).format(text);
}
