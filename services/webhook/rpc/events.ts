// events.v1.EventService: events of all merchants, for internal teams.
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Sql } from "#platform/database/database.ts";
import { answerFor, assertMayAsk } from "#platform/rpc/teams.ts";
import { type CallContext, callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { type EventService, type WatchRequest, WatchResponseSchema } from "#proto/events/v1/event_service_pb.ts";
import { type EventTail, readEvents, watchEvents } from "../flows/watch-events.ts";
import { toFeedEvent } from "../messages.ts";
import type { FeedPage } from "../store/event-feed.ts";

const limitDefault = 100;

export function eventsRpc(deps: { readonly db: Sql; readonly tail: EventTail }): ServiceImpl<typeof EventService> {
  return {
    async list(request) {
      return answerOf(await readEvents(deps.db, request, request.limit || limitDefault));
    },
    watch(request, { signal }) {
      // The stream runs outside the call's context.
      return answersOf(deps, request, signal, callContext.getStore());
    },
  };
}

/** Checks and masks for a team by itself: the server does so for calls with one answer only. */
async function* answersOf(
  deps: Parameters<typeof watchEvents>[0],
  request: WatchRequest,
  signal: AbortSignal,
  { team, isTeamCut }: Pick<CallContext, "team" | "isTeamCut"> = {},
) {
  const assertAllowed = () => {
    if (team) assertMayAsk(team, request);
    if (isTeamCut?.()) throw new Failure("CALLER_UNKNOWN");
  };
  for await (const page of watchEvents(deps, request, signal, assertAllowed)) {
    const answer = create(WatchResponseSchema, answerOf(page));
    yield team ? answerFor(team, WatchResponseSchema, answer) : answer;
  }
}

function answerOf({ rows, nextPosition, hasMore }: FeedPage) {
  return { events: rows.map(toFeedEvent), nextPosition, hasMore };
}
