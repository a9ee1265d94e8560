// Trust between our own processes: each caller has a token of its own in a file, each service a file with the digests
// of the tokens that it accepts. Both may change while processes run, and a caller may have two tokens at once, so that
// tokens are rotated without a restart and without a refused call. Who may call which method stands in the protos
// (access.v1).
import { createHash, timingSafeEqual } from "node:crypto";
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  Caller,
  callers,
  MerchantStanding,
  service_callers,
  service_standing,
  standing,
} from "#proto/access/v1/access_pb.ts";
import { LiveFile } from "./live-file.ts";

/** A caller's name, as the callers file writes it. */
export type CallerName = Lowercase<Exclude<keyof typeof Caller, "UNSPECIFIED">>;

const isCallerKey = (name: string): name is Uppercase<CallerName> => name !== "UNSPECIFIED" && !/^\d/.test(name);
const callerKeys = Object.keys(Caller).filter(isCallerKey);
const lowerCase = <T extends string>(text: T) => text.toLowerCase() as Lowercase<T>;
export const callerNames: readonly CallerName[] = callerKeys.map(lowerCase);
const callerOf = new Map(callerKeys.map((key) => [lowerCase(key), Caller[key]] as const));

/**
 * The callers that the token of each process stands for. The operators' console passes on the people it acts for, as a
 * console, and has an operator's rights.
 */
export const tokenHolders: ReadonlyMap<string, readonly CallerName[]> = new Map<string, readonly CallerName[]>([
  ...callerNames.map((name) => [name, [name]] as const),
  ["operators-console", ["console", "operator"]],
]);

/** People and their programs: whatever they say of themselves, they act as who they are. */
const outsiders: ReadonlySet<CallerName> = new Set(["operator", "reader"]);

/**
 * For whom a call is made. Our services hand on whom they act for; anybody else acts for himself, and what he names is
 * no more than said.
 * @param names whom the caller's token stands for; none: a stranger, who gets no further
 */
export function actorOf(names: readonly CallerName[], named: string): { actor: string; claimedActor?: string } {
  const claimed = actorForm.test(named) ? named : "";
  if (names.some((name) => !outsiders.has(name))) return { actor: claimed };
  return { actor: names[0] ?? "", ...(claimed !== "" && { claimedActor: claimed }) };
}
// As long as the longest id, or as an e-mail address.
const actorForm = /^[\x21-\x7e]{1,64}$/;

/** The token that a process sends with its calls. */
export interface OwnToken {
  readonly value: string;
  /** Reads it again, if it can have changed. */
  refresh(): void;
}

/** The tokens that a service accepts. */
export interface TrustedCallers {
  /** Whom the token stands for; none: a stranger. A token may stand for several. */
  of(token: string): readonly CallerName[];
  /** Why the newest list is not used; undefined: it is. */
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

/** A file with a line `<caller> sha256:<hex>` for each accepted token; `#` begins a comment. */
export const callersFile = {
  parse: (path: string): TrustedCallers => {
    const file = new LiveFile(path, acceptedTokens);
    return {
      of: (token) => {
        const digest = digestOf(token);
        const known = holders(file.value, digest);
        if (known.length > 0) return known;
        // It may have been added this very moment.
        file.refresh();
        return holders(file.value, digest);
      },
      get problem() {
        return file.problem;
      },
    };
  },
};

/** A token that stays as it is. */
export function fixedToken(value: string): OwnToken {
  return { value, refresh: () => {} };
}

/** Trusts one token for every caller; for services that a test runs alone. */
export function trustingOnly(token: string): TrustedCallers {
  const accepted = callerNames.map((name) => ({ name, digest: digestOf(token) }));
  return { of: (presented) => holders(accepted, digestOf(presented)), problem: undefined };
}

/** The line of a callers file that accepts the token. */
export function callerLine(name: CallerName, token: string): string {
  return `${name} sha256:${digestOf(token).toString("hex")}`;
}

/** The lines that accept the token of a process for everybody whom it stands for. */
export function holderLines(holder: string, token: string): readonly string[] {
  return (tokenHolders.get(holder) ?? []).map((name) => callerLine(name, token));
}

/** Who may call the method, by its proto. */
export function allowedCallers(method: DescMethod): ReadonlySet<CallerName> {
  const known = allowed.get(method);
  if (known) return known;
  const own = getOption(method, callers);
  const wanted = own.length > 0 ? own : getOption(method.parent, service_callers);
  const names = new Set(callerNames.filter((name) => wanted.some((caller) => caller === callerOf.get(name))));
  allowed.set(method, names);
  return names;
}
const allowed = new WeakMap<DescMethod, ReadonlySet<CallerName>>();

/** True when the method's proto allows it to a merchant of this status. */
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

/** Tokens are random and long, so that a plain digest tells nothing about them. */
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
