// Values of the internal API in the words of a terminal, and lists over several pages.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type CommandInput, type Option, UsageError } from "./command.ts";

/** The environment option of commands that need one. */
export const liveOption = { live: { about: "real money; without it the sandbox" } } as const;

export function environmentOf(input: CommandInput): Environment {
  return input.has("live") ? Environment.LIVE : Environment.SANDBOX;
}

export function environmentName(environment: Environment): string {
  return environment === Environment.LIVE ? "live" : "sandbox";
}

/** RFC 3339; empty when absent. */
export function timeText(at: Timestamp | undefined): string {
  return at ? timestampDate(at).toISOString() : "";
}

/** What an option says of a time, or undefined. @throws UsageError */
export function timeOf(input: CommandInput, option: string): Date | undefined {
  const text = input.text(option);
  if (text === "") return undefined;
  const time = new Date(text);
  // A time without a zone would be read as this machine's; a day is UTC's.
  if (Number.isNaN(time.getTime()) || !/(?:Z|[+-]\d\d:\d\d|^\d{4}-\d\d-\d\d)$/.test(text))
    throw new UsageError(`--${option} is a time with its zone, such as 2026-11-23T08:00:00Z, or a day (UTC)`);
  return time;
}

const limitDefault = 50;
const limitMax = 1_000;
const pageMax = 200;

/** The option of lists. */
export const limitOption: Readonly<Record<string, Option>> = {
  limit: { value: "n", about: `how many, newest first; ${limitDefault} unless given, at most ${limitMax}` },
};

/** Reads page after page until the limit. */
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
