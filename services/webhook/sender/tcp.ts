// A plain TCP connection within a limit, and why there is none, in the words of the attempt log.
import { connect, type Socket } from "node:net";
import type { AttemptError } from "../rules/delivery.ts";

/** A plain connection to the address. */
export async function connectTcp(address: string, port: number, limitMs: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true });
  try {
    await settledSocket(socket, "connect", limitMs, signal, "connect_timeout");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof ConnectFailed ? error : new ConnectFailed(connectError(error), error);
  }
}

/** No connection; `error` says why, in the words of the attempt log. */
export class ConnectFailed extends Error {
  override name = "ConnectFailed";
  readonly error: AttemptError;
  constructor(error: AttemptError, cause?: unknown) {
    super(error, { cause });
    this.error = error;
  }
}

/** Waits for the socket's event; fails on its error, its end, the limit or the signal. */
export async function settledSocket(
  socket: Socket,
  event: "connect" | "secureConnect",
  limitMs: number | undefined,
  signal: AbortSignal,
  late: AttemptError,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const tooLate = () => finish(new ConnectFailed(late));
    const timer = limitMs === undefined ? undefined : setTimeout(tooLate, Math.max(1, limitMs));
    const onError = (error: Error) => finish(error);
    const onClose = () => finish(new Error("closed"));
    const onDone = () => finish();
    function finish(error?: Error) {
      clearTimeout(timer);
      signal.removeEventListener("abort", tooLate);
      socket.off("error", onError).off("close", onClose).off(event, onDone);
      // From here on its errors reach the HTTP client, or nobody if it is thrown away.
      socket.on("error", () => {});
      if (error) reject(error);
      else resolve();
    }
    if (signal.aborted) return tooLate();
    signal.addEventListener("abort", tooLate, { once: true });
    socket.on("error", onError).on("close", onClose).on(event, onDone);
  });
}

/** An error's code, empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function connectError(error: unknown): AttemptError {
  const code = codeOf(error);
  if (code === "ECONNREFUSED") return "connect_refused";
  return code === "ETIMEDOUT" ? "connect_timeout" : "connect_failed";
}
