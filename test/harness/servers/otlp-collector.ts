// An OTLP/HTTP receiver in this process: keeps the spans that processes send, and the bytes they came in.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { membersOf } from "#platform/values/unchecked.ts";

/** A span as it was sent. */
export interface CollectedSpan {
  /** `tollbooth-gateway` … */
  readonly service: string;
  readonly version: string;
  /** The host's name; in Kubernetes the pod's. */
  readonly instance: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  /** The text of a statement; "" for other spans. */
  readonly statement: string;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that came, as text. */
  readonly raw: readonly string[];
  close(): void;
}

/** Starts one on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const raw: string[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    raw.push(text);
    spans.push(...spansIn(JSON.parse(text)));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    raw,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function spansIn(body: unknown): CollectedSpan[] {
  return listOf(body, "resourceSpans").flatMap((resource) => {
    const attribute = (key: string) => attributeOf(membersOf(resource).resource, key);
    const [service, version, instance] = [
      attribute("service.name"),
      attribute("service.version"),
      attribute("service.instance.id"),
    ];
    return listOf(resource, "scopeSpans").flatMap((scope) =>
      listOf(scope, "spans").map((span) => {
        const { name, traceId, spanId, parentSpanId = "", startTimeUnixNano, endTimeUnixNano } = membersOf(span);
        const ids = { traceId: String(traceId), spanId: String(spanId), parentSpanId: String(parentSpanId) };
        const times = { startMs: msOf(startTimeUnixNano), endMs: msOf(endTimeUnixNano) };
        const statement = attributeOf(span, "db.query.text");
        return { service, version, instance, name: String(name), ...ids, ...times, statement };
      }),
    );
  });
}

/** "" when missing. */
function attributeOf(of: unknown, key: string): string {
  const attribute = listOf(of, "attributes").find((each) => membersOf(each).key === key);
  const { stringValue = "" } = membersOf(membersOf(attribute).value);
  return String(stringValue);
}

function msOf(nanoseconds: unknown): number {
  return Number(BigInt(String(nanoseconds)) / 1_000n) / 1_000;
}

function listOf(value: unknown, name: string): unknown[] {
  const list: unknown = membersOf(value)[name];
  return Array.isArray(list) ? list : [];
}
