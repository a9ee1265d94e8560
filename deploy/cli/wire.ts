// Formats values of the internal API for the terminal, and reads lists page by page.
import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Environment as Settings } from "#platform/process/config.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Source, sources } from "../../services/services.ts";
import { programEnvironment } from "../one/together.ts";
import { type CommandInput, type Option, UsageError } from "./command.ts";

/** Option of commands that work on a service's database, in a pod of that service. */
export const serviceOption = {
  service: { value: "name", about: "whose database it is: checkout, payments, merchant or webhook", needed: true },
} as const;

/** The service, and the settings of its pod; in one process for all services (deploy/one) its own prefix has them. */
export function serviceOf(input: CommandInput): { service: Source; env: Settings } {
  const service = sources.find((each) => each === input.text("service"));
  if (!service) throw new UsageError(`--service must be one of ${sources.join(", ")}`);
  return { service, env: programEnvironment(service, process.env) };
}

/** A file's text; `-` is standard input, which `kubectl exec -i` passes on. */
export async function readInput(name: string): Promise<string> {
  return name === "-" ? await readAll(process.stdin) : await readFile(name, "utf8");
}

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

/** Options of lists of what happened in a period. */
export const periodOptions = {
  since: { value: "time", about: "RFC 3339 or a day (UTC), inclusive" },
  until: { value: "time", about: "exclusive" },
} as const;

export function periodOf(input: CommandInput): { since?: Timestamp; until?: Timestamp } {
  const [since, until] = [timeOf(input, "since"), timeOf(input, "until")];
  return { ...(since && { since: timestampFromDate(since) }), ...(until && { until: timestampFromDate(until) }) };
}

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
