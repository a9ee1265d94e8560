// A durable consumer that no release has, made as a source makes its own: followers make none.
import { connectBroker, streamManager } from "#platform/events/connection.ts";
import { consumerConfig } from "#platform/events/consumers.ts";
import { streamName } from "#platform/events/streams.ts";
import type { Source } from "../../../services/services.ts";

/** @param url of a broker that lets anybody do anything */
export async function makeConsumer(
  url: string,
  namespace: string,
  of: { readonly name: string; readonly source: Source; readonly types: string },
  ackWaitSeconds?: number,
): Promise<void> {
  const connection = await connectBroker({ url }, { name: "test" });
  try {
    const manager = await streamManager(connection);
    await manager.consumers.add(streamName(namespace, of.source), consumerConfig(namespace, of, ackWaitSeconds));
  } finally {
    await connection.close();
  }
}
