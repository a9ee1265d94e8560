// Formats values of the internal API for the terminal, and reads lists page by page.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type CommandInput, type Option, UsageError } from "./command.ts";

/** Option of commands for one environment. */
export const liveOption = { live: { about: "real money; without it the sandbox" } } as const;

export function environmentOf(input: CommandInput): Environment {
  return input.has("live") ? Environment.LIVE : Environment.SANDBOX;
}

export function environmentName(environment: Environment): string {
  return environment === Environment.LIVE ? "live" : "sandbox";
}

/** RFC 3339; empty if absent. */
export function timeText(at: Timestamp | undefined): string {
  return at ? timestampDate(at).toISOString() : "";
}

/** Parses an option's time; undefined if absent. @throws UsageError */
export function timeOf(input: CommandInput, option: string): Date | undefined {
  const text = input.text(option);
  if (text === "") return undefined;
  const time = new Date(text);
  // A time without a zone would be read in this machine's zone; a day is in UTC.
  if (Number.isNaN(time.getTime()) || !/(?:Z|[+-]\d\d:\d\d|^\d{4}-\d\d-\d\d)$/.test(text))
    throw new UsageError(`--${option} must be a time with a zone, such as 2026-11-23T08:00:00Z, or a day (UTC)`);
  return time;
}

const limitDefault = 50;
const limitMax = 1_000;
const pageMax = 200;

/** Option of lists. */
export const limitOption: Readonly<Record<string, Option>> = {
  limit: { value: "n", about: `how many, newest first; ${limitDefault} unless given, at most ${limitMax}` },
};

/** Reads pages until the limit. */
export async function readPages<T>(
  input: CommandInput,
  read: (page: { pageSize: number; pageToken: string }) => Promise<{ items: readonly T[]; nextPageToken: string }>,
): Promise<T[]> {
  const limit = Number(input.text("limit") || limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw new UsageError(`--limit must be a whole number from 1 to ${limitMax}`);
  }
  const found: T[] = [];
  let pageToken = "";
  do {
    const page = await read({ pageSize: Math.min(pageMax, limit - found.length), pageToken });
    found.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && found.length < limit);
  return found;
}
