// Asks the processor, from the card form and the challenge page. The secrets travel in bodies only, never in an address.
import { deadline } from "./deadline.js";
import { localeTag } from "./language.js";

const answerMs = 30_000; // a slow card takes 6 s; a phone on a bad network some more

/** @returns {Promise<{status: number, body: any}>} @throws when no answer came: then nothing is known */
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

/** "€10.50": an integer of minor units, with as many decimals as ISO 4217 gives the currency. */
export function amountText({ amount, currency, exponent }) {
  const digits = String(amount).padStart(exponent + 1, "0");
  const text = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
  const decimals = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  return new Intl.NumberFormat(localeTag(), { style: "currency", currency, ...decimals }).format(text);
}
