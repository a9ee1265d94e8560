// Opens one TLS connection to an endpoint: resolves and checks its addresses, connects to a checked address, and checks
// the peer again. It reports the duration of each phase.
import { isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import type { Cidr } from "#platform/values/address-range.ts";
import { isAllowedPeer } from "../rules/address.ts";
import type { AttemptError } from "../rules/delivery.ts";
import type { Target } from "../rules/target.ts";
import { connectThroughProxy, ProxyUnavailable } from "./egress-proxy.ts";
import { ResolveError, type Resolver } from "./resolver.ts";
import { BlockedAddress, findRoute } from "./route.ts";
import { ConnectFailed, codeOf, connectTcp, waitForSocket } from "./tcp.ts";

export interface ConnectSettings {
  readonly resolver: Resolver;
  readonly allow: readonly Cidr[];
  /** Trusted certificate authorities, TLS 1.2 or newer. */
  readonly trust: SecureContext;
  readonly proxy: URL | undefined;
}

export interface Connection {
  readonly socket: TLSSocket;
  readonly remoteIp: string;
  readonly timing: ConnectTiming;
}

/** Milliseconds. */
export interface ConnectTiming {
  readonly dnsMs: number;
  readonly connectMs: number;
  readonly tlsMs: number;
}

// A reachable host answers a SYN within a round trip. All addresses of a name share this time.
const connectMaxMs = 3_000;

/**
 * @param signal aborts at the attempt's deadline
 * @throws ConnectFailed, or ProxyUnavailable if the egress proxy failed
 */
export async function openConnection(
  target: Target,
  settings: ConnectSettings,
  signal: AbortSignal,
): Promise<Connection> {
  const startedAt = performance.now();
  const addresses = await resolveTarget(target, settings, signal);
  const resolvedAt = performance.now();
  const tcp = await connectToOneOf(addresses, target.port, settings.proxy, signal);
  const connectedAt = performance.now();
  try {
    // Behind a proxy the peer is the proxy, which connects to the checked address.
    if (settings.proxy === undefined && !isAllowedPeer(tcp.socket.remoteAddress ?? "", settings.allow)) {
      throw new ConnectFailed("blocked_address");
    }
    const socket = await startTls(tcp.socket, target.host, settings.trust, signal);
    const timing = {
      dnsMs: resolvedAt - startedAt,
      connectMs: connectedAt - resolvedAt,
      tlsMs: performance.now() - connectedAt,
    };
    return { socket, remoteIp: tcp.address, timing };
  } catch (error) {
    tcp.socket.destroy();
    throw error;
  }
}

async function resolveTarget(
  target: Target,
  settings: ConnectSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await rejectOnAbort(findRoute(target, settings.resolver, settings.allow), signal, "dns_timeout");
  } catch (error) {
    if (error instanceof BlockedAddress) throw new ConnectFailed("blocked_address", error);
    if (error instanceof ResolveError) throw new ConnectFailed(error.code, error);
    throw error;
  }
}

async function connectToOneOf(
  addresses: readonly string[],
  port: number,
  proxy: URL | undefined,
  signal: AbortSignal,
): Promise<{ socket: Socket; address: string }> {
  const until = performance.now() + connectMaxMs;
  let failure = new ConnectFailed("connect_failed");
  for (const [index, address] of addresses.entries()) {
    const shareMs = (until - performance.now()) / (addresses.length - index);
    try {
      const socket = proxy
        ? await connectThroughProxy(proxy, address, port, shareMs, signal)
        : await connectTcp(address, port, shareMs, signal);
      return { socket, address };
    } catch (error) {
      if (error instanceof ProxyUnavailable || signal.aborted) throw error;
      failure = error instanceof ConnectFailed ? error : new ConnectFailed("connect_failed", error);
    }
  }
  throw failure;
}

async function startTls(socket: Socket, host: string, trust: SecureContext, signal: AbortSignal): Promise<TLSSocket> {
  const tls = connectTls({
    socket,
    // SNI allows names only; for an address the certificate must contain the address.
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    secureContext: trust,
    minVersion: "TLSv1.2",
    // Set explicitly: otherwise NODE_TLS_REJECT_UNAUTHORIZED could turn it off.
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
  });
  try {
    await waitForSocket(tls, "secureConnect", undefined, signal, "tls_timeout");
    return tls;
  } catch (error) {
    tls.destroy();
    throw error instanceof ConnectFailed ? error : new ConnectFailed(tlsError(error), error);
  }
}

async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal, timeoutError: AttemptError): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new ConnectFailed(timeoutError));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

const tlsErrors: Readonly<Record<string, AttemptError>> = {
  CERT_HAS_EXPIRED: "tls_expired",
  CERT_NOT_YET_VALID: "tls_expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls_self_signed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls_untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "tls_untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls_untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls_untrusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls_name_mismatch",
  HOSTNAME_MISMATCH: "tls_name_mismatch",
};

function tlsError(error: unknown): AttemptError {
  return tlsErrors[codeOf(error)] ?? "tls_failed";
}
