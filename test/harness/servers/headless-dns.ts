// The DNS of a Kubernetes headless service: each name has one A record for each listed replica.
import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

export interface HeadlessDns {
  readonly port: number;
  /** IPv4 addresses of the replicas. */
  readonly addresses: Set<string>;
  stop(): Promise<void>;
}

const typeA = 1;
const headerBytes = 12;

/** Answers on a free UDP port of this machine. */
export async function startHeadlessDns(): Promise<HeadlessDns> {
  const addresses = new Set<string>();
  const socket = createSocket("udp4", (query, from) => {
    socket.send(answerTo(query, addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    port: (socket.address() as AddressInfo).port,
    addresses,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** The question again, and the records when it asks for A (RFC 1035, 4.1). */
function answerTo(query: Buffer, addresses: ReadonlySet<string>): Buffer {
  const end = query.indexOf(0, headerBytes) + 5; // the name's last byte, then type and class
  const wanted = query.readUInt16BE(end - 4) === typeA ? [...addresses] : [];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2); // id
  header.writeUInt16BE(0x8580, 2); // an authoritative answer without error
  header.writeUInt16BE(1, 4); // one question
  header.writeUInt16BE(wanted.length, 6);
  const records = wanted.map((address) =>
    // The name as a pointer to the question's, type A, class IN, TTL 0, four bytes.
    Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
  );
  return Buffer.concat([header, query.subarray(headerBytes, end), ...records]);
}
