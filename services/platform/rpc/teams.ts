// Internal teams as callers (access.v1.TeamService). Each service reads their list every second: removal takes two. A
// team's workload may call with its Kubernetes token, which the merchant service verifies once.
import { createHash } from "node:crypto";
import { clone, type DescMessage, type DescMethod, getOption, type MessageShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import type { JobContext } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Right, RightSchema, right } from "#proto/access/v1/access_pb.ts";
import type { Team, TeamService, VerifyWorkloadResponse } from "#proto/access/v1/teams_pb.ts";

/** The merchant service. */
export type TeamSource = Pick<Client<typeof TeamService>, "listTeamTokens" | "verifyWorkload">;

const tokenForm = /^tb_team_[\w-]{43}$/;
// Of a Kubernetes service account: signed, about a kilobyte.
const workloadTokenForm = /^eyJ[\w-]{10,4000}\.[\w-]{10,8000}\.[\w-]{40,1400}$/;
// Each token lives for an hour; a program that is rolled out brings a few.
const workloadsMax = 1_000;
// Anyone who reaches the port can send junk: it must not occupy the merchant service.
const verifyingMax = 8;
const verifyMsMax = 5_000;
const readEveryMs = 1_000;
const keepWithoutAnswerMs = 30_000;

export class Teams {
  readonly #source: TeamSource | undefined;
  /** By the token's digest in hex. */
  #known = new Map<string, Team>();
  /** By `<namespace>/<service account>`. */
  #workloads = new Map<string, Team>();
  /** Verified tokens, by digest. */
  readonly #verified = new LRUCache<string, { readonly workload: string; readonly endMs: number }>({
    max: workloadsMax,
  });
  readonly #verifying = new Map<string, Promise<void>>();
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
    const answer = await this.#source?.listTeamTokens({}).catch(() => undefined);
    if (answer === undefined) return;
    const named = answer.tokens.flatMap(({ team, digest }) =>
      team ? [[Buffer.from(digest).toString("hex"), team]] : [],
    );
    this.#known = new Map(named as [string, Team][]);
    this.#workloads = new Map([...this.#known.values()].flatMap((team) => team.workloads.map((each) => [each, team])));
    this.#readAt = performance.now();
  }

  of(token: string): Team | undefined {
    if (!this.#isFresh || !(tokenForm.test(token) || workloadTokenForm.test(token))) return undefined;
    const digest = digestOf(token);
    const verified = this.#verified.get(digest);
    if (verified) return clockMs() < verified.endMs ? this.#workloads.get(verified.workload) : undefined;
    return this.#known.get(digest);
  }

  /**
   * Verifies a workload's token that is not known yet. @returns undefined when there is nothing to wait for
   * @throws Failure SERVICE_UNAVAILABLE
   */
  learn(token: string): Promise<void> | undefined {
    if (!this.#source || !workloadTokenForm.test(token)) return undefined;
    const digest = digestOf(token);
    if (this.#verified.has(digest)) return undefined;
    if (this.#verifying.size >= verifyingMax && !this.#verifying.has(digest)) return Promise.reject(unavailable());
    const keep = ({ workload, expiresAt }: VerifyWorkloadResponse) => {
      if (workload !== "" && expiresAt) this.#verified.set(digest, { workload, endMs: timestampMs(expiresAt) });
    };
    const ask = (source: TeamSource) => source.verifyWorkload({ token }, { timeoutMs: verifyMsMax }).then(keep);
    const verifying = this.#verifying.get(digest) ?? ask(this.#source).finally(() => this.#verifying.delete(digest));
    this.#verifying.set(digest, verifying);
    return verifying.catch((cause: unknown) => Promise.reject(unavailable(cause)));
  }

  /** The refusal of an unknown token: SERVICE_UNAVAILABLE while the list of teams is out of date. */
  refusalOf(token: string, problem: string | undefined): Failure {
    const isTeams = tokenForm.test(token) || workloadTokenForm.test(token);
    if (this.#source && !this.#isFresh && isTeams) return unavailable();
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

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function unavailable(cause?: unknown): Failure {
  return new Failure("SERVICE_UNAVAILABLE", { cause, retryAfterMs: readEveryMs });
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
