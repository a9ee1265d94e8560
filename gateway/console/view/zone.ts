// The time zone of a page: its times are shown in it, and days of its filters begin in it. It is the merchant's own,
// else the browser's, which the script reports by a cookie, else UTC.
import { AsyncLocalStorage } from "node:async_hooks";

export const zoneCookie = "tollbooth-zone";
const nameMax = 64;
const current = new AsyncLocalStorage<string>();

export function pageZone(): string {
  return current.getStore() ?? "UTC";
}

export function runInZone<T>(zone: string, work: () => T): T {
  return current.run(zone, work);
}

/** The first name that is a time zone, else UTC. */
export function chooseZone(names: readonly (string | undefined)[]): string {
  return names.find((name) => name !== undefined && isTimeZone(name)) ?? "UTC";
}

/** Whether the text is an IANA time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  if (name === "" || name.length > nameMax || /^[+-]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const dayMs = 86_400_000;

/** The first moment of a day, or undefined for a text that is no day. @param text for example `2026-11-25` */
export function startOfDay(text: string): number | undefined {
  if (!/^(19|20|21)\d\d-\d\d-\d\d$/.test(text)) return undefined;
  const utc = Date.parse(`${text}T00:00:00Z`);
  // The parser turns the 31st of a shorter month into the 1st of the next one.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== text) return undefined;
  // Clocks may change on this day, also at midnight: one of the offsets around it is right.
  const moments = [utc - offsetMs(utc - dayMs), utc - offsetMs(utc + dayMs)].sort((a, b) => a - b);
  return moments.find((ms) => localDay(ms) === text) ?? utc;
}

export function localDay(ms: number): string {
  return new Date(ms + offsetMs(ms)).toISOString().slice(0, 10);
}

/** For example 3,600,000 for `GMT+01:00`. */
function offsetMs(ms: number): number {
  const format = new Intl.DateTimeFormat("en", { timeZone: pageZone(), timeZoneName: "longOffset" });
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  return (sign === "-" ? -1_000 : 1_000) * (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds));
}
