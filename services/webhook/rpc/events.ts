// events.v1.EventService: events of all merchants, for internal teams.
import type { ServiceImpl } from "@connectrpc/connect";
import type { Sql } from "#platform/database/database.ts";
import { callContext } from "#platform/values/call-context.ts";
import type { EventService } from "#proto/events/v1/event_service_pb.ts";
import { type EventTail, readEvents, watchEvents } from "../flows/watch-events.ts";
import { toFeedEvent } from "../messages.ts";
import type { FeedPage } from "../store/event-feed.ts";

const limitDefault = 100;

export function eventsRpc(deps: { readonly db: Sql; readonly tail: EventTail }): ServiceImpl<typeof EventService> {
  return {
    async list(request) {
      return answerOf(await readEvents(deps.db, callerName(), request, request.limit || limitDefault));
    },
    watch(request, { signal }) {
      // The stream runs outside the call's context.
      return answersOf(watchEvents(deps, callerName(), request, signal));
    },
  };
}

function callerName(): string {
  return callContext.getStore()?.actor ?? "";
}

async function* answersOf(pages: AsyncIterable<FeedPage>) {
  for await (const page of pages) yield answerOf(page);
}

function answerOf({ rows, nextPosition, hasMore }: FeedPage) {
  return { events: rows.map(toFeedEvent), nextPosition, hasMore };
}
