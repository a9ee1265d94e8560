// The fault model: how processors, clocks, the network, brokers, databases, operators and merchants' servers fail,
// which run injects each fault, and the guarantee under it. docs/faults.md shows the same rows; drivers are keyed by
// the rows' names, and a row without a driver does not compile.
import { type FaultRow, row } from "./fault-row.ts";
import { moneyFaults } from "./money-fault-rows.ts";

const once = "Done once: a retry reuses the key; a new key needs proof that nothing was done.";
const noted = "No conclusion is drawn: the payment or refund stays pending and is checked again.";
const announcedOnce = "The books agree at the end; each event is published once.";
const resumed = "Queries and calls end by their deadlines; unanswered requests are repeated and take effect once.";
const kept = "Operations under way finish; only later ones follow the new rule.";
const restore = "`flows/payments/recovery` and `flows/platform/recovery-fence`, because it needs a backup";
const full = "by hand, on a separate volume of 110 MB";

export const faultTable = [
  // Processor responses
  row("answers early, works late", "processor", "both", "An immediate 5xx; the work is done seconds later.", once),
  row("502 page from the edge", "processor", "both", "A 502 with HTML; nothing is done.", once),
  row("5xx before the work", "processor", "both", "A 500; nothing is done.", once),
  row("5xx during the work", "processor", "both", "A 500 while the work continues.", once),
  row("5xx after the work", "processor", "both", "A 500 although the work is done.", once),
  row(
    "stored 500 replayed",
    "processor",
    "both",
    "A key whose first response was a 500 gets that response on each retry.",
    `${once} A capture or an upload gets a new key sooner, because a second one has no effect.`,
  ),
  row("409 in progress", "processor", "both", "The processor reports that the key is in use.", noted),
  row("429 too many", "processor", "both", "The call is rejected by a rate limit or a lock.", noted),
  row("408 and 425", "processor", "both", "A proxy answers Request Timeout or Too Early.", noted),
  row("silence after the work", "processor", "both", "The work is done; no response arrives.", once),
  row("cut after the first byte", "processor", "both", "The connection breaks in the middle of the response.", once),
  row("slow answers", "processor", "both", "Responses take from 0.1 s to longer than the call's deadline.", noted),
  row("slow lists", "processor", "both", "Lists, statements and event lists are slow.", noted),
  row("lists that lag", "processor", "both", "New objects are missing from lists for a while.", once),
  row("404 for what was made", "processor", "both", "An existing object answers 404 for a while.", noted),
  row(
    "intent lost for good",
    "processor",
    "both",
    "An intent that the processor created is gone.",
    "Checked until the loss is proved; then the operators' list shows the payment with the action that ends it.",
  ),
  row("keys forgotten", "processor", "both", "Idempotency keys expire.", once),
  row(
    "processor outage",
    "processor",
    "both",
    "Every call for an account fails for a while.",
    "The circuit opens; new sessions go to the merchant's other account if allowed, and no session is charged at both.",
  ),
  // Processor events
  row("events late", "processor", "both", "Webhooks are sent late.", announcedOnce),
  row("events doubled", "processor", "both", "Webhooks are sent twice.", announcedOnce),
  row("events reordered", "processor", "both", "The newest webhook arrives first.", announcedOnce),
  row("events dropped once", "processor", "both", "A webhook's first attempt is lost.", announcedOnce),
  row(
    "events held",
    "processor",
    "both",
    "No webhook about a payment arrives until the end of the run.",
    "The books agree meanwhile, from polling open payments and reading the event list.",
  ),
  row(
    "events lost permanently",
    "processor",
    "both",
    "A webhook is never sent.",
    "Found in the processor's event list within two polls.",
  ),
  row(
    "event list lags",
    "processor",
    "both",
    "The newest events are missing from the event list for a while.",
    announcedOnce,
  ),
  ...moneyFaults,
  // Clocks
  row(
    "clock ahead",
    "clock",
    "both",
    "A process's clock steps forward by 2 s to 10 minutes.",
    "No stored or compared time comes from that clock.",
  ),
  row(
    "clock behind",
    "clock",
    "both",
    "A process's clock steps back by 2 s to 10 minutes.",
    "No stored or compared time comes from that clock.",
  ),
  row(
    "clocks drift apart",
    "clock",
    "both",
    "Each process's clock is off by seconds to minutes.",
    "No stored or compared time comes from that clock.",
  ),
  row(
    "an hour for two seconds",
    "clock",
    "both",
    "A clock is an hour ahead for two seconds.",
    "No id, lease or expiry contains the wrong hour.",
  ),
  // The network
  row("connections cut", "network", "chaos", "All connections of a link are reset.", resumed),
  row(
    "black hole",
    "network",
    "chaos",
    "Open connections drop all bytes silently in both directions; new connections work.",
    resumed,
  ),
  row(
    "half-open connections",
    "network",
    "chaos",
    "The server's end is closed and the caller gets no FIN or RST.",
    resumed,
  ),
  row(
    "answers broken off",
    "network",
    "chaos",
    "The connection is reset after the first byte of the response.",
    resumed,
  ),
  // Our processes and their servers
  row(
    "process killed",
    "process",
    "chaos",
    "SIGKILL at any instruction.",
    "A successor continues; each operation takes effect once.",
  ),
  row(
    "process frozen",
    "process",
    "chaos",
    "SIGSTOP for up to 4 s, then SIGCONT.",
    "The process notices expired leases before it writes.",
  ),
  row("broker killed", "broker", "chaos", "SIGKILL; it restarts from its disk.", announcedOnce),
  row("broker frozen", "broker", "chaos", "SIGSTOP for up to 4 s.", announcedOnce),
  row(
    "stream deleted",
    "broker",
    "chaos",
    "A stream is deleted with events that are not consumed yet.",
    "Its service creates the stream again and republishes events that a consumer still needs.",
  ),
  {
    ...row(
      "broker lost its last seconds",
      "broker",
      "drill",
      "It restarts without its last writes, or with an empty store.",
      "As for a deleted stream.",
    ),
    because: "`flows/platform/streams` and `npm run prove -- alarms`, because it needs an older store",
  },
  row(
    "database killed",
    "database",
    "chaos",
    "SIGKILL; it recovers from its log.",
    "Committed work is kept; uncommitted work is retried.",
  ),
  row("database frozen", "database", "chaos", "SIGSTOP for up to 4 s.", resumed),
  row(
    "database read-only",
    "database",
    "chaos",
    "New transactions are read-only for a while, as after an incomplete failover.",
    resumed,
  ),
  {
    ...row(
      "failover without the last commits",
      "database",
      "drill",
      "The promoted standby lacks the last commits.",
      "Services start work only after a comparison with the broker's streams; then as for a restored database. A synchronous standby loses nothing.",
    ),
    because:
      "`npm run prove -- failover` for the synchronous standby, `npm run prove -- restore --from standby` for the other",
  },
  {
    ...row(
      "database restored",
      "database",
      "drill",
      "It is five minutes old.",
      "Detected within seconds; no new work starts until sessions and payments are rebuilt from events and processors.",
    ),
    because: restore,
  },
  {
    ...row("disk full", "database", "drill", "Writes fail.", "Requests get 503; work continues when there is space."),
    because: full,
  },
  // Operators
  row("risk rule added", "operator", "both", "A blocking rule is added during payments, then removed.", kept),
  row("connector deactivated", "operator", "both", "The connector is deactivated, then activated again.", kept),
  row("refunds switched off", "operator", "both", "A merchant's refunds are disabled for a while.", kept),
  row(
    "API key replaced",
    "operator",
    "both",
    "A new key is created and the old one revoked immediately.",
    "Requests with the new key continue work that the old one started.",
  ),
  row(
    "credentials rotated",
    "operator",
    "both",
    "The connector's webhook secret changes; the old one stays valid for a while.",
    announcedOnce,
  ),
  row("surface changed", "operator", "both", "New sessions use another surface.", kept),
  row(
    "fee schedule changed",
    "operator",
    "both",
    "A new fee takes effect, also between a capture and its report.",
    "Each capture has the fee in effect at the processor's capture time.",
  ),
  row(
    "items resolved concurrently",
    "operator",
    "both",
    "Several operators resolve one item at the same time with different actions.",
    "One action succeeds: accepted money is not refunded as well.",
  ),
  row(
    "operation parked",
    "operator",
    "both",
    "Operators retry a parked operation and record its outcome at the same time.",
    once,
  ),
  // Merchants
  row(
    "one key for an order",
    "merchant's server",
    "both",
    "It uses the order number as the idempotency key of every request for the order, and repeats them days later.",
    "Keys are separate per operation: each request has one response and one object.",
  ),
  row(
    "endpoint fails",
    "merchant's server",
    "chaos",
    "It answers 503, resets the connection or answers slowly.",
    "Each event is delivered at least once, with one delivery id.",
  ),
] as const satisfies readonly FaultRow[];

type Row = (typeof faultTable)[number];
export type FaultName = Row["name"];
/** Faults that a walk, and that a chaos run, injects. */
export type WalkFault = Extract<Row, { drawnBy: "walk" | "both" }>["name"];
export type ChaosFault = Extract<Row, { drawnBy: "chaos" | "both" }>["name"];
/** Faults that need separate servers and network links. */
export type ChaosOnlyFault = Exclude<ChaosFault, WalkFault>;
