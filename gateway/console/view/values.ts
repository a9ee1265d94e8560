// Formats money, times and numbers for people. Amounts are bigint minor units; no floating point touches them.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { LRUCache } from "lru-cache";
import { currencyExponent } from "#platform/values/money.ts";
import { majorUnits } from "../../../services/public-json/csv.ts";
import { type Html, html } from "../../html.ts";
import type { Language } from "../texts/texts.ts";
import { localDay, pageZone } from "./zone.ts";

/** For example `€10.50` or `10,50 €`. */
export function moneyText(language: Language, amount: bigint, currency: string): string {
  const exact = majorUnits(amount, currency);
  const digits = currencyExponent(currency) ?? 2;
  const format = new Intl.NumberFormat(language, {
    style: "currency",
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // A decimal string is formatted exactly; a number would be rounded.
  return isDecimal(exact) ? format.format(exact) : exact;
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text);
}

/**
 * Reads an amount in major units, with a decimal point or comma and no grouping.
 * @returns minor units, or undefined if the text is not an amount of the currency
 */
export function minorUnits(typed: string, currency: string): bigint | undefined {
  const digits = currencyExponent(currency);
  const [, whole = "", fraction = ""] = /^(\d{1,12})(?:[.,](\d{1,3}))?$/.exec(typed.trim()) ?? [];
  if (digits === undefined || whole === "" || fraction.length > digits) return undefined;
  return BigInt(whole + fraction.padEnd(digits, "0"));
}

/** A time in the page's zone. */
export function dateTimeText(language: Language, at: Timestamp | undefined): Html | string {
  if (!at) return "";
  const date = timestampDate(at);
  return html`<time datetime="${date.toISOString()}">${momentText(language, date)}</time>`;
}

export function momentText(language: Language, at: Date): string {
  return formatOf(language, "short").format(at);
}

/** A time with seconds and zone, for a timeline. */
export function preciseTimeText(language: Language, at: Timestamp | undefined): Html | string {
  if (!at) return "";
  const date = timestampDate(at);
  return html`<time datetime="${date.toISOString()}">${formatOf(language, "long").format(date)}</time>`;
}

/** A day in the page's zone. */
export function dayText(language: Language, at: Timestamp | undefined): Html | string {
  if (!at) return "";
  const date = timestampDate(at);
  return html`<time datetime="${localDay(date.getTime())}">${formatOf(language, undefined).format(date)}</time>`;
}

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });

function formatOf(language: Language, timeStyle: "short" | "long" | undefined): Intl.DateTimeFormat {
  const timeZone = pageZone();
  const key = `${language} ${timeZone} ${timeStyle}`;
  const known = formats.get(key);
  if (known) return known;
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone, ...(timeStyle && { timeStyle }) });
  formats.set(key, format);
  return format;
}

/** Formats `2026-11-25`. Any other text stays unchanged. */
export function dayShown(language: Language, text: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return text;
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }).format(date);
}

export function countText(language: Language, value: bigint | number): string {
  return new Intl.NumberFormat(language).format(value);
}

/** Indents a JSON body, unless parsing would change it: numbers may not fit into a double. */
export function prettyJson(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("utf8");
  try {
    const read: unknown = JSON.parse(text);
    return JSON.stringify(read) === text.trim() ? JSON.stringify(read, undefined, 2) : text;
  } catch {
    return text;
  }
}

/** A part of all as `98.5%`; without any a dash. */
export function shareText(language: Language, part: bigint, all: bigint): string {
  if (all <= 0n) return "–";
  const share = Number((part * 2_000n + all) / (all * 2n)) / 1_000;
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(share);
}
