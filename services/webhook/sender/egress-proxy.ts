// Connects through the operator's egress proxy (HTTP CONNECT), a second barrier behind our own address checks.
// A failure of the proxy itself never counts as a delivery attempt.
import type { Socket } from "node:net";
import { ConnectFailed, connectTcp } from "./tcp.ts";

export class ProxyUnavailable extends Error {
  override name = "ProxyUnavailable";
}

const answerMaxBytes = 8_192;
const httpPort = 80;

/** @throws ProxyUnavailable; ConnectFailed if the proxy cannot reach or forbids the address */
export async function connectThroughProxy(
  proxy: URL,
  address: string,
  port: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = await connectTcp(host, Number(proxy.port || httpPort), limitMs, signal).catch((error) => {
    throw signal.aborted ? error : new ProxyUnavailable("the egress proxy does not answer", { cause: error });
  });
  const authority = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  try {
    const status = await answerStatus(socket, limitMs, signal);
    if (status >= 200 && status <= 299) return socket;
    if (status === 403) throw new ConnectFailed("blocked_address");
    if (status === 502 || status === 504)
      throw new ConnectFailed(status === 502 ? "connect_failed" : "connect_timeout");
    throw new ProxyUnavailable(`the egress proxy answered ${status}`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Reads the proxy's answer up to its final empty line. */
async function answerStatus(socket: Socket, limitMs: number, signal: AbortSignal): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => finish(new ProxyUnavailable("the egress proxy timed out")), Math.max(1, limitMs));
    const onAbort = () => finish(new ConnectFailed("connect_timeout"));
    const onClose = () => finish(new ProxyUnavailable("the egress proxy closed the connection"));
    const onData = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.length > answerMaxBytes) return finish(new ProxyUnavailable("the egress proxy's answer is too long"));
      if (!text.includes("\r\n\r\n")) return;
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? Number.NaN);
      finish(Number.isNaN(status) ? new ProxyUnavailable("the egress proxy's answer is not HTTP") : status);
    };
    function finish(result: number | Error) {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      socket.off("data", onData).off("close", onClose);
      socket.pause();
      if (result instanceof Error) reject(result);
      else resolve(result);
    }
    signal.addEventListener("abort", onAbort, { once: true });
    socket.on("data", onData).on("close", onClose);
  });
}
