// Follows the events of all merchants from TypeScript. The position belongs in your database, in the transaction of
// what you do with the events.
import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { tokenFile } from "#platform/secrets/callers.ts";
import { EventService } from "#proto/events/v1/event_service_pb.ts";

const { TOLLBOOTH_EVENTS_URL: baseUrl = "", TOLLBOOTH_TOKEN_FILE: path = "", AFTER_POSITION = "0" } = process.env;
const client = createClient(EventService, createGrpcTransport({ baseUrl }));
const headers = { authorization: `Bearer ${tokenFile.parse(path).value}` };
let afterPosition = BigInt(AFTER_POSITION);
// A stream ends after ten minutes and when its server stops, and breaks with its server: go on where it ended. The
// program ends with an error that a repeat cannot mend.
const final = [Code.Unauthenticated, Code.PermissionDenied, Code.InvalidArgument, Code.Unimplemented];
for (;;) {
  try {
    for await (const { events, nextPosition } of client.watch({ afterPosition }, { headers })) {
      for (const { position, type, objectId, status } of events) console.log(String(position), type, objectId, status);
      afterPosition = nextPosition;
    }
  } catch (error) {
    if (final.includes(ConnectError.from(error).code)) throw error;
    console.error("again in a second:", error);
    await pause(1_000);
  }
}
