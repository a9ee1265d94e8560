// Gives up connections whose server has vanished without a word, as when its machine is lost: the kernel would wait for
// a quarter of an hour. What is silent is asked about on a new connection: whether the server still works on the
// statement. So a vanished one costs seconds, and a slow or waiting statement nothing.
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

export interface Patience {
  /** After so long without a byte the server is asked, and again after the same time. */
  readonly askAfterMs: number;
  /** A server that cannot be asked is waited for so long; longer than it lets a statement run. */
  readonly silenceMsMax: number;
}

/** What pg has of a connection and does not declare. */
interface Wire {
  /** False while a statement is under way. */
  readonly readyForQuery: boolean;
  /** Of the server's process for it, as the server told. */
  readonly processID: number;
  readonly connection: { readonly stream: Socket };
}

interface Watched extends Wire {
  /** When it was given back; undefined: somebody has it. Monotonic milliseconds. */
  idleSince: number | undefined;
  /** Bytes that had moved when it was looked at last, and how often it was looked at since they moved. */
  moved: number;
  looks: number;
}

// A server that is there connects and answers at once.
const questionMs = 2_000;
// An answer may be on its way while the server says already that it works no more.
const underWayMs = 250;

/** @param config that the pool connects with */
export function endWhenSilent(pool: pg.Pool, config: pg.ClientConfig, patience: Patience): void {
  const watch = new SilenceWatch(config, patience);
  const known = new WeakMap<pg.PoolClient, Watched>();
  pool.on("connect", (client) => known.set(client, watch.add(client as unknown as Wire)));
  pool.on("acquire", (client) => setIdle(known.get(client), undefined));
  pool.on("release", (_error, client) => setIdle(known.get(client), performance.now()));
}

function setIdle(watched: Watched | undefined, since: number | undefined): void {
  if (watched) watched.idleSince = since;
}

class SilenceWatch {
  readonly #config: pg.ClientConfig;
  readonly #patience: Patience;
  readonly #all = new Set<Watched>();
  /** To be asked about. */
  readonly #silent = new Set<Watched>();
  #isAsking = false;

  constructor(config: pg.ClientConfig, patience: Patience) {
    this.#config = config;
    this.#patience = patience;
  }

  add(wire: Wire): Watched {
    const { stream } = wire.connection;
    const watched: Watched = Object.assign(Object.create(wire), { idleSince: undefined, moved: 0, looks: 0 });
    this.#all.add(watched);
    stream.once("close", () => {
      this.#all.delete(watched);
      this.#silent.delete(watched);
    });
    stream.on("timeout", () => this.#look(watched));
    stream.setTimeout(this.#patience.askAfterMs);
    return watched;
  }

  #look(watched: Watched): void {
    // The next statement's bytes begin the time anew.
    if (watched.readyForQuery) return;
    const { stream } = watched.connection;
    const { askAfterMs, silenceMsMax } = this.#patience;
    const moved = movedBytes(watched);
    watched.looks = moved === watched.moved ? watched.looks + 1 : 1;
    watched.moved = moved;
    if (watched.looks * askAfterMs >= silenceMsMax) {
      stream.destroy(serverVanished(`no answer within ${silenceMsMax} ms`));
      return;
    }
    stream.setTimeout(askAfterMs);
    this.#silent.add(watched);
    void this.#askAboutSilent();
  }

  /**
   * One question at a time, about all that are silent: an overloaded server must not get a connection more for each of
   * ours.
   */
  async #askAboutSilent(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#silent.size > 0) {
      const asked = [...this.#silent].map((watched) => ({ watched, moved: movedBytes(watched) }));
      this.#silent.clear();
      const working = await this.#askWhichWork(asked.map(({ watched }) => watched.processID)).catch(() => undefined);
      if (!working) continue;
      await pause(underWayMs);
      const isLost = ({ watched, moved }: (typeof asked)[number]) =>
        !working.has(watched.processID) && !watched.readyForQuery && movedBytes(watched) === moved;
      this.#giveUp(asked.filter(isLost).map(({ watched }) => watched));
    }
    this.#isAsking = false;
  }

  /** Those, and what has lain idle since before: its server is the same one. */
  #giveUp(lost: readonly Watched[]): void {
    if (lost.length === 0) return;
    const before = performance.now() - this.#patience.askAfterMs;
    const idle = [...this.#all].filter(({ idleSince }) => idleSince !== undefined && idleSince < before);
    for (const { connection } of [...lost, ...idle])
      connection.stream.destroy(serverVanished("the server does not know of it any more"));
  }

  /**
   * @returns undefined: the numbers are not the server's own, since a pooler is in between. @throws when it cannot be
   * asked.
   */
  async #askWhichWork(processes: readonly number[]): Promise<ReadonlySet<number> | undefined> {
    const client = new pg.Client({
      ...this.#config,
      connectionTimeoutMillis: questionMs,
      query_timeout: questionMs,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      // What the role may not see has no state, and counts as at work.
      const { rows } = await client.query<{ own: number; pid: number | null }>(
        `select pg_backend_pid() as own, pid
           from (select 1) as one
           left join pg_stat_activity on pid = any($1::int[]) and coalesce(state, '') not like 'idle%'`,
        [processes],
      );
      const own = (client as unknown as Wire).processID;
      return rows[0]?.own === own ? new Set(rows.flatMap(({ pid }) => pid ?? [])) : undefined;
    } finally {
      (client as unknown as Wire).connection.stream.destroy();
    }
  }
}

/** With the code of a connection that the kernel gives up, so that callers hear that the database is away. */
function serverVanished(how: string): Error {
  return Object.assign(new Error(how), { code: "ETIMEDOUT" });
}

function movedBytes({ connection }: Wire): number {
  return connection.stream.bytesRead + connection.stream.bytesWritten;
}
