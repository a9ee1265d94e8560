// Trust between our own processes: each caller has a token in a file, and each service has a file with digests of
// accepted tokens. Both files may change at runtime and a caller may have two tokens, so tokens rotate without a
// restart or a rejected call. The protos state who may call a method (access.v1).
import { createHash, timingSafeEqual } from "node:crypto";
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  Caller,
  callers,
  MerchantStanding,
  Right,
  right,
  service_callers,
  service_standing,
  standing,
} from "#proto/access/v1/access_pb.ts";
import { LiveFile } from "./live-file.ts";

/** A caller's name in the callers file. */
export type CallerName = Lowercase<Exclude<keyof typeof Caller, "UNSPECIFIED">>;

const isCallerKey = (name: string): name is Uppercase<CallerName> => name !== "UNSPECIFIED" && !/^\d/.test(name);
const callerKeys = Object.keys(Caller).filter(isCallerKey);
const lowerCase = <T extends string>(text: T) => text.toLowerCase() as Lowercase<T>;
export const callerNames: readonly CallerName[] = callerKeys.map(lowerCase);
const callerOf = new Map(callerKeys.map((key) => [lowerCase(key), Caller[key]] as const));

/** People and their programs: they cannot act for another actor. */
const outsiders: ReadonlySet<CallerName> = new Set(["operator", "reader"]);

/**
 * The actor of a call. Our services pass on the actor; for anyone else the token decides, and the given name is only a
 * claim.
 * @param names callers that the token represents; empty for an unknown token
 */
export function actorOf(names: readonly CallerName[], named: string): { actor: string; claimedActor?: string } {
  const claimed = actorForm.test(named) ? named : "";
  if (names.some((name) => !outsiders.has(name))) return { actor: claimed };
  return { actor: names[0] ?? "", ...(claimed !== "" && { claimedActor: claimed }) };
}
// As long as the longest id or e-mail address.
const actorForm = /^[\x21-\x7e]{1,64}$/;

/** The token that a process sends with its calls. */
export interface OwnToken {
  readonly value: string;
  /** Reads the file again if it may have changed. */
  refresh(): void;
}

export interface TrustedCallers {
  /** Callers that the token represents; empty for an unknown token. */
  of(token: string): readonly CallerName[];
  /** Why the newest file is not used; undefined if it is. */
  readonly problem: string | undefined;
}

/** A file with this process's own token in its first line. */
export const tokenFile = {
  parse: (path: string): OwnToken => {
    const file = new LiveFile(path, ownToken);
    return {
      get value() {
        return file.value;
      },
      refresh: () => file.refresh(),
    };
  },
};

/** A file with one line `<caller> sha256:<hex>` per accepted token; `#` starts a comment. */
export const callersFile = {
  parse: (path: string): TrustedCallers => {
    const file = new LiveFile(path, acceptedTokens);
    return {
      of: (token) => {
        const digest = digestOf(token);
        const known = holders(file.value, digest);
        if (known.length > 0) return known;
        // The token may have been added a moment ago.
        file.refresh();
        return holders(file.value, digest);
      },
      get problem() {
        return file.problem;
      },
    };
  },
};

export function fixedToken(value: string): OwnToken {
  return { value, refresh: () => {} };
}

export function callerLine(name: CallerName, token: string): string {
  return `${name} sha256:${digestOf(token).toString("hex")}`;
}

// The token `reader` has these; teams shared it before they had their own.
const readerRights: readonly Right[] = [
  Right.MERCHANTS_READ,
  Right.CHECKOUT_READ,
  Right.PAYMENTS_READ,
  Right.PAYMENTS_EMAILS,
  Right.EVENTS_READ,
];

/** The callers that the method's proto allows. */
export function allowedCallers(method: DescMethod): ReadonlySet<CallerName> {
  const known = allowed.get(method);
  if (known) return known;
  const own = getOption(method, callers);
  const wanted = own.length > 0 ? own : getOption(method.parent, service_callers);
  const names = new Set(callerNames.filter((name) => wanted.some((caller) => caller === callerOf.get(name))));
  if (readerRights.includes(getOption(method, right))) names.add("reader");
  allowed.set(method, names);
  return names;
}
const allowed = new WeakMap<DescMethod, ReadonlySet<CallerName>>();

/** True when the method's proto allows calls for a merchant of this status. */
export function mayCallFor(method: DescMethod, merchantStatus: string): boolean {
  if (merchantStatus === "active" || method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) return true;
  const allowed = getOption(method, standing) || getOption(method.parent, service_standing);
  return allowed === MerchantStanding.ANY || (allowed === MerchantStanding.SUSPENDED && merchantStatus === "suspended");
}

interface AcceptedToken {
  readonly name: CallerName;
  readonly digest: Buffer;
}

/** Compares with every digest in constant time. */
function holders(accepted: readonly AcceptedToken[], digest: Buffer): readonly CallerName[] {
  const found: CallerName[] = [];
  for (const each of accepted) if (timingSafeEqual(each.digest, digest)) found.push(each.name);
  return found;
}

/** Tokens are long and random, so a plain digest reveals nothing. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function ownToken(text: string): string {
  const [line = ""] = text.split("\n");
  const token = line.trim();
  if (!/^[\x21-\x7e]{32,512}$/.test(token)) {
    throw new Error("must begin with a token of 32 to 512 visible ASCII characters (openssl rand -base64 32)");
  }
  return token;
}

function acceptedTokens(text: string): readonly AcceptedToken[] {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");
  const accepted = lines.map((line) => {
    const [, label = "", hex = ""] = /^(\w+)\s+sha256:([0-9a-f]{64})$/.exec(line) ?? [];
    const name = callerNames.find((each) => each === label);
    if (!name) throw new Error(`must have lines "<caller> sha256:<64 hex>" with a caller of ${callerNames.join(", ")}`);
    return { name, digest: Buffer.from(hex, "hex") };
  });
  if (accepted.length === 0) throw new Error("must accept at least one token");
  return accepted;
}
