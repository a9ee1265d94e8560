// Opens a TCP connection within a time limit, and maps failures to the attempt log's error codes.
import { connect, type Socket } from "node:net";
import type { AttemptError } from "../rules/delivery.ts";

/** @throws ConnectFailed */
export async function connectTcp(address: string, port: number, limitMs: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true });
  try {
    await waitForSocket(socket, "connect", limitMs, signal, "connect_timeout");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof ConnectFailed ? error : new ConnectFailed(connectError(error), error);
  }
}

export class ConnectFailed extends Error {
  override name = "ConnectFailed";
  readonly error: AttemptError;
  constructor(error: AttemptError, cause?: unknown) {
    super(error, { cause });
    this.error = error;
  }
}

/** Waits for the socket's event; rejects on its error, its end, the limit or the signal. */
export async function waitForSocket(
  socket: Socket,
  event: "connect" | "secureConnect",
  limitMs: number | undefined,
  signal: AbortSignal,
  timeoutError: AttemptError,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onTimeout = () => finish(new ConnectFailed(timeoutError));
    const timer = limitMs === undefined ? undefined : setTimeout(onTimeout, Math.max(1, limitMs));
    const onError = (error: Error) => finish(error);
    const onClose = () => finish(new Error("closed"));
    const onDone = () => finish();
    function finish(error?: Error) {
      clearTimeout(timer);
      signal.removeEventListener("abort", onTimeout);
      socket.off("error", onError).off("close", onClose).off(event, onDone);
      // Later errors reach the HTTP client. This listener prevents a crash if the socket is discarded.
      socket.on("error", () => {});
      if (error) reject(error);
      else resolve();
    }
    if (signal.aborted) return onTimeout();
    signal.addEventListener("abort", onTimeout, { once: true });
    socket.on("error", onError).on("close", onClose).on(event, onDone);
  });
}

/** An error's code, or empty. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function connectError(error: unknown): AttemptError {
  const code = codeOf(error);
  if (code === "ECONNREFUSED") return "connect_refused";
  return code === "ETIMEDOUT" ? "connect_timeout" : "connect_failed";
}
