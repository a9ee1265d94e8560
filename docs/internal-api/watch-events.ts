// Follows the events of all merchants from TypeScript. The position belongs in your database, in the transaction of
// what you do with the events.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { tokenFile } from "#platform/secrets/callers.ts";
import { EventService } from "#proto/events/v1/event_service_pb.ts";

const { TOLLBOOTH_EVENTS_URL: baseUrl = "", TOLLBOOTH_TOKEN_FILE: path = "", AFTER_POSITION = "0" } = process.env;
const client = createClient(EventService, createGrpcTransport({ baseUrl }));
const headers = { authorization: `Bearer ${tokenFile.parse(path).value}` };
let afterPosition = BigInt(AFTER_POSITION);
// A stream ends after ten minutes and when its server stops: go on where it ended.
for (;;) {
  for await (const { events, nextPosition } of client.watch({ afterPosition }, { headers })) {
    for (const { position, type, objectId, status } of events) console.log(String(position), type, objectId, status);
    afterPosition = nextPosition;
  }
}
