// Calls between services of one process: unary.ts and transport.ts without a socket. Only bytes are passed, so tokens,
// validation, deadlines and failures work as over the network.
import { setTimeout as pause } from "node:timers/promises";
import type { Drain, Host, Neighbour } from "#platform/process/host.ts";
import { type Exchange, type ExchangedAnswer, unlessEnded } from "./transport.ts";
import type { UnaryHandler } from "./unary.ts";

// Poll interval while a stopping service waits for its last calls.
const drainCheckMs = 10;

class InProcessListener implements Neighbour {
  readonly #unary: UnaryHandler;
  readonly #underWay = new Set<(broken: Error) => void>();

  constructor(unary: UnaryHandler) {
    this.#unary = unary;
  }

  async call(path: string, headers: Record<string, string>, body: Uint8Array): Promise<ExchangedAnswer> {
    const { promise: broken, reject } = Promise.withResolvers<never>();
    this.#underWay.add(reject);
    try {
      const answer = await Promise.race([this.#unary.answerInProcess(path, headers, body), broken]);
      return answer ?? { status: 404, bytes: new Uint8Array() };
    } finally {
      this.#underWay.delete(reject);
    }
  }

  /** Waits for active calls and aborts those that exceed the time. New calls must have stopped. */
  async close(graceMs: number): Promise<void> {
    const endsAt = performance.now() + graceMs;
    while (this.#underWay.size > 0 && performance.now() < endsAt) await pause(drainCheckMs);
    for (const breakOff of [...this.#underWay]) breakOff(brokenBy("ECONNRESET"));
  }
}

/** Opens a service to its neighbours. @returns how to close it; after the lame-duck time it accepts no calls */
export function openToNeighbours(
  neighbours: NonNullable<Host["neighbours"]>,
  name: string,
  unary: UnaryHandler,
): (drain: Drain) => Promise<void> {
  if (neighbours.has(name)) throw new Error(`this process has a service ${name} already`);
  const listener = new InProcessListener(unary);
  neighbours.set(name, listener);
  return async ({ lameDuckMs, graceMs }) => {
    await pause(lameDuckMs);
    neighbours.delete(name);
    await listener.close(graceMs);
  };
}

/** Sends calls to a service of the same process, which may be starting or stopped. */
export function inProcessExchange(neighbours: NonNullable<Host["neighbours"]>, name: string): Exchange {
  return {
    send: async ({ path, headers, body }, end) => {
      end.throwIfAborted();
      const neighbour = neighbours.get(name);
      // The call has not begun.
      if (neighbour === undefined) throw brokenBy("ECONNREFUSED");
      return await unlessEnded(end, neighbour.call(path, headers, body));
    },
    close: () => {},
  };
}

/** Simulates a broken connection; the client's retries depend on the code (client.ts). */
function brokenBy(code: string): Error {
  return Object.assign(new Error(`the service does not answer (${code})`), { code });
}
