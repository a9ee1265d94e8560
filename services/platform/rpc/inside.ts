// Calls between parts of one process (parts/part.ts): what the short way in and the short way out are over HTTP/1.1,
// with nothing between them but a message's bytes. Whoever calls or is called cannot tell: the same token and gate, the
// same bounds, deadlines and failures, and no object in common.
import { setTimeout as pause } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { boundHere } from "#platform/parts/part.ts";
import type { Drain } from "#platform/process/drain.ts";
import { CallEnd } from "./call-end.ts";
import { answeredMessage, callHeaders, connectionsMax, endedCall, pathOf } from "./transport.ts";
import type { UnaryAnswer, UnaryDoor } from "./unary.ts";

/** Doors that are open now, by their parts' names. */
const doors = new Map<string, InsideDoor>();

type Answer = UnaryDoor["answerInside"];

/** Where a part takes calls of the others, while its port is open for everybody else. */
export class InsideDoor {
  readonly #name: string;
  readonly #answer: Answer;
  readonly #underWay = new Set<(broken: Error) => void>();

  private constructor(name: string, answer: Answer) {
    this.#name = name;
    this.#answer = answer;
  }

  /** Opens it. What is answered runs as the part that opens, and knows nothing of the caller but what it sends. */
  static open(name: string, unary: UnaryDoor): InsideDoor {
    if (doors.has(name)) throw new Error(`this process has a part ${name} already`);
    const door = new InsideDoor(
      name,
      boundHere((path, headers, body) => unary.answerInside(path, headers, body)),
    );
    doors.set(name, door);
    return door;
  }

  /** @throws Error with a code, as a broken connection */
  async call(path: string, headers: Record<string, string>, body: Uint8Array): Promise<UnaryAnswer> {
    const { promise: broken, reject } = Promise.withResolvers<never>();
    this.#underWay.add(reject);
    try {
      const answer = await Promise.race([this.#answer(path, headers, body), broken]);
      return answer ?? { status: 404, type: "", bytes: new Uint8Array() };
    } finally {
      this.#underWay.delete(reject);
    }
  }

  /** Takes nothing new after the lame duck, waits for what is under way, and breaks off what is not done in time. */
  async close({ lameDuckMs, graceMs }: Drain): Promise<void> {
    await pause(lameDuckMs);
    doors.delete(this.#name);
    const endsAt = performance.now() + graceMs;
    while (this.#underWay.size > 0 && performance.now() < endsAt) await pause(closeLookMs);
    for (const breakOff of [...this.#underWay]) breakOff(brokenBy("ECONNRESET"));
  }
}

// A stopping process looks this often whether its last calls have ended.
const closeLookMs = 10;

/** @param headers what every call carries, asked at each one. */
export function insideTransport(options: {
  part: string;
  headers: () => Record<string, string>;
}): Transport & { close(): void } {
  const places = new Places(connectionsMax);
  const underWay = new Set<CallEnd>();
  let isClosed = false;
  return {
    unary: async (method, signal, timeoutMs, header, input) => {
      const body = toBinary(method.input, create(method.input, input));
      const headers = { ...options.headers(), ...callHeaders(header, timeoutMs) };
      const end = new CallEnd(signal, timeoutMs);
      underWay.add(end);
      try {
        if (isClosed) throw brokenBy("ECONNABORTED");
        await places.take(end);
        const asked = end.until(ask(options.part, pathOf(method), headers, body));
        return answeredMessage(method, await asked.finally(() => places.leave()));
      } catch (error) {
        throw error instanceof ConnectError ? error : endedCall(end, error);
      } finally {
        underWay.delete(end);
        end.release();
      }
    },
    stream: () => {
      throw new ConnectError("this transport is for unary calls", Code.Unimplemented);
    },
    close: () => {
      isClosed = true;
      for (const end of underWay) end.end("silent");
    },
  };
}

async function ask(part: string, ...call: Parameters<InsideDoor["call"]>): Promise<UnaryAnswer> {
  const door = doors.get(part);
  // It is being started, or has stopped: nothing was begun.
  if (door === undefined) throw brokenBy("ECONNREFUSED");
  return await door.call(...call);
}

/** As a connection breaks: what the client's repetitions go by (client.ts). */
function brokenBy(code: string): Error {
  return Object.assign(new Error(`the part does not answer (${code})`), { code });
}

/** As many calls at once as there are connections to a process; more wait their turn. */
class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** @throws when the call ends before its turn */
  async take(end: CallEnd): Promise<void> {
    end.signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    let isNext = () => {};
    const turn = new Promise<void>((resolve) => (isNext = resolve));
    this.#waiting.add(isNext);
    try {
      await end.until(turn);
    } catch (error) {
      // It was its turn in this very moment: the next one's.
      if (!this.#waiting.delete(isNext)) this.leave();
      throw error;
    }
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
