// What the pieces of a request cost by themselves, one after the other on an idle stack: the time from asking to having
// the answer, by a program that does nothing else.
import { connectPeer } from "#platform/rpc/client.ts";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { openBareHttp } from "./bare-http.ts";
import { connect } from "./statements.ts";

const warmUp = 500;
const times = 1_000;

/** Medians, milliseconds, by what the piece is. */
export async function pieceTimes(stack: StackInfo): Promise<Readonly<Record<string, number>>> {
  const http = await openBareHttp();
  const client = await connect(stack.database);
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  const health = peer.client(Health);
  let id = 0;
  const body = "x".repeat(400);
  const pieces: Readonly<Record<string, () => Promise<unknown>>> = {
    "an HTTP answer of a Fastify that does nothing": () => http.answer('{"amount":1050,"currency":"EUR"}'),
    "a call of the merchant service that asks nobody (its health)": () => health.check({ service: "" }),
    "a prepared statement that reads nothing": () =>
      client.query({ name: "none", text: "select $1::int", values: [1] }),
    "a commit that waits for the disk (one row)": () =>
      client.query({ name: "row", text: "insert into bench_bare values ($1, $2)", values: [++id, body] }),
  };
  try {
    await client.query("create table bench_bare (id int primary key, body text)");
    const medians: [string, number][] = [];
    for (const [what, piece] of Object.entries(pieces)) medians.push([what, await medianMs(piece)]);
    return Object.fromEntries(medians);
  } finally {
    await client.query("drop table if exists bench_bare");
    await client.end();
    peer.close();
    await http.close();
  }
}

async function medianMs(piece: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < warmUp; i++) await piece();
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    await piece();
    took.push(performance.now() - began);
  }
  return took.toSorted((one, other) => one - other)[times >> 1] ?? Number.NaN;
}
