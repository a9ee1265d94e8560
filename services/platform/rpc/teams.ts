// Internal teams as callers (access.v1.TeamService). Each service reads their list every second: removal takes two.
import { createHash } from "node:crypto";
import { clone, type DescMessage, type DescMethod, getOption, type MessageShape } from "@bufbuild/protobuf";
import type { JobContext } from "#platform/process/job.ts";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Right, RightSchema, right } from "#proto/access/v1/access_pb.ts";
import type { Team, TeamToken } from "#proto/access/v1/teams_pb.ts";

/** Reads the tokens that count. */
export type TeamSource = () => Promise<readonly TeamToken[]>;

const tokenForm = /^tb_team_[\w-]{43}$/;
const readEveryMs = 1_000;
const keepWithoutAnswerMs = 30_000;

export class Teams {
  readonly #source: TeamSource | undefined;
  /** By the token's digest in hex. */
  #known = new Map<string, Team>();
  #readAt = Number.NEGATIVE_INFINITY;
  /** Calls of the current second, by team. */
  readonly #used = new Map<string, { readonly second: number; readonly calls: number }>();

  /** @param source absent: no team is known */
  constructor(source?: TeamSource) {
    this.#source = source;
  }

  get jobs(): JobContext[] {
    const runOnce = () => this.read().then(() => false);
    return this.#source ? [{ name: "read-teams", everyMs: readEveryMs, runOnce }] : [];
  }

  /** Keeps the last list when the source does not answer: its own alerts report that. */
  async read(): Promise<void> {
    const tokens = await this.#source?.().catch(() => undefined);
    if (tokens === undefined) return;
    const named = tokens.flatMap(({ team, digest }) => (team ? [[Buffer.from(digest).toString("hex"), team]] : []));
    this.#known = new Map(named as [string, Team][]);
    this.#readAt = performance.now();
  }

  of(token: string): Team | undefined {
    if (!this.#isFresh || !tokenForm.test(token)) return undefined;
    return this.#known.get(createHash("sha256").update(token).digest("hex"));
  }

  /** The refusal of an unknown token: SERVICE_UNAVAILABLE while the list of teams is out of date. */
  refusalOf(token: string, problem: string | undefined): Failure {
    const isOpen = this.#source && !this.#isFresh && tokenForm.test(token);
    if (isOpen) return new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: readEveryMs });
    return new Failure("CALLER_UNKNOWN", problem === undefined ? {} : { cause: new Error(problem) });
  }

  get #isFresh(): boolean {
    return performance.now() - this.#readAt < keepWithoutAnswerMs;
  }

  /** @throws Failure CALLER_REFUSED without the method's right, TOO_MANY_CALLS above the rate */
  admit(team: Team, method: DescMethod): void {
    const needed = getOption(method, right);
    if (needed === Right.UNSPECIFIED) throw refused(team, "teams may not call this method");
    if (!team.rights.includes(needed)) throw refused(team, `it needs the right ${rightName(needed)}`);
    const now = performance.now();
    const second = Math.floor(now / 1_000);
    const used = this.#used.get(team.name);
    const calls = used?.second === second ? used.calls + 1 : 1;
    if (calls > team.rate) throw new Failure("TOO_MANY_CALLS", { retryAfterMs: Math.ceil((second + 1) * 1_000 - now) });
    this.#used.set(team.name, { second, calls });
  }
}

/** `payments.read` for RIGHT_PAYMENTS_READ. */
export function rightName(of: Right): string {
  return (RightSchema.value[of]?.localName ?? "").toLowerCase().replace("_", ".");
}

/** @throws Failure CALLER_REFUSED for another merchant, no merchant where the team has a subset, or an e-mail filter */
export function assertMayAsk(team: Team, message: object): void {
  const { merchantId, merchantIds, customerEmail } = membersOf(message);
  if (customerEmail && !team.rights.includes(Right.PAYMENTS_EMAILS))
    throw refused(team, "a filter by e-mail needs the right payments.emails");
  if (team.merchantIds.length === 0) return;
  const asked: readonly unknown[] = [merchantId, merchantIds].flat().filter((id) => id !== undefined && id !== "");
  if (asked.length === 0) throw refused(team, "the request must name one of its merchants");
  if (!asked.every((id) => team.merchantIds.some((own) => own === id)))
    throw refused(team, "the merchant is not one of its merchants");
}

/** The answer for the team: without the right, the part before the @ of every e-mail address is masked. */
export function answerFor<M extends DescMessage>(team: Team, schema: M, message: MessageShape<M>): MessageShape<M> {
  if (team.rights.includes(Right.PAYMENTS_EMAILS)) return message;
  const copy = clone(schema, message);
  maskEmails(copy);
  return copy;
}

const emailForm = /[^\s@<>()"',;:]{1,64}@(?=[^\s@<>()"',;:]+\.)/g;

function maskEmails(holder: object): void {
  for (const [name, value] of Object.entries(holder)) {
    if (typeof value === "string") Reflect.set(holder, name, value.replace(emailForm, "***@"));
    else if (typeof value === "object" && value !== null && !(value instanceof Uint8Array)) maskEmails(value);
  }
}

function refused(team: Team, why: string): Failure {
  return new Failure("CALLER_REFUSED", { explanation: `team:${team.name}: ${why}` });
}
