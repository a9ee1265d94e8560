// The fault model: every way in which processors, clocks, the network, brokers, databases, operators and merchants'
// servers misbehave, who draws it, and what holds then. docs/faults.md shows the same rows; the drivers are keyed by
// their names, so that a row without one does not compile.
import { type FaultRow, row } from "./fault-row.ts";
import { moneyFaults } from "./money-fault-rows.ts";

const once = "Done once: the same key goes again, and a new one only after absence was proved.";
const noted = "Nothing is concluded; the payment or refund is pending and asked about again.";
const announcedOnce = "The books agree at the end; each announcement is made once.";
const resumed = "Statements and calls end by their deadlines; requests that got no answer are repeated and done once.";
const kept = "What is under way goes to its object; only what begins afterwards is judged by the new rule.";
const restore =
  "`flows/payments/recovery` and `flows/platform/recovery-fence`: it needs a backup, which a run does not have";
const full = "by hand, on a volume of 110 MB: it needs a disk of its own";

export const faultTable = [
  // The processor's answers
  row("answers early, works late", "processor", "both", "A 5xx comes at once; the work is done seconds later.", once),
  row("502 page from the edge", "processor", "both", "HTML with 502, and nothing is done.", once),
  row("5xx before the work", "processor", "both", "A 500, and nothing was done.", once),
  row("5xx during the work", "processor", "both", "A 500 comes while the work goes on.", once),
  row("5xx after the work", "processor", "both", "The work is done, the answer is a 500.", once),
  row(
    "stored 500 replayed",
    "processor",
    "both",
    "A key whose first answer was a 500 gets it again and again.",
    `${once} A capture or an upload, of which a second counts for nothing, has a new one sooner.`,
  ),
  row("409 in progress", "processor", "both", "The key is said to be in use.", noted),
  row("429 too many", "processor", "both", "The call is refused for its rate, or for a lock.", noted),
  row("408 and 425", "processor", "both", "Timeout or too early, said by a proxy on the way.", noted),
  row("silence after the work", "processor", "both", "The work is done and no answer ever comes.", once),
  row("cut after the first byte", "processor", "both", "The connection breaks in the middle of the answer.", once),
  row("slow answers", "processor", "both", "Answers take from 0.1 s to longer than anybody waits.", noted),
  row("slow lists", "processor", "both", "Lists, statements and event lists take long.", noted),
  row("lists that lag", "processor", "both", "What was just made is not in lists yet.", once),
  row("404 for what was made", "processor", "both", "An object that exists is said not to, for a while.", noted),
  row(
    "intent lost for good",
    "processor",
    "both",
    "The intent that it gave is gone.",
    "Asked for until that is proved; then the payment is in the operators' list with the action that ends it.",
  ),
  row("keys forgotten", "processor", "both", "Idempotency keys end after their life.", once),
  row(
    "processor outage",
    "processor",
    "both",
    "Every call of an account fails for a while.",
    "The circuit opens; where the merchant allows it new sessions go to the other account, and nothing is done at both.",
  ),
  // The processor's events
  row("events late", "processor", "both", "Webhooks leave later.", announcedOnce),
  row("events doubled", "processor", "both", "Webhooks come twice.", announcedOnce),
  row("events reordered", "processor", "both", "The newest webhook comes first.", announcedOnce),
  row("events dropped once", "processor", "both", "A webhook's first try is lost.", announcedOnce),
  row(
    "events held",
    "processor",
    "both",
    "No webhook about a payment comes until the end.",
    "The books agree while they are held: what is open is asked about, and the event list is read.",
  ),
  row(
    "events lost for ever",
    "processor",
    "both",
    "A webhook is never sent.",
    "Found in the processor's event list within two polls.",
  ),
  row("event list lags", "processor", "both", "The event list does not have the newest events yet.", announcedOnce),
  ...moneyFaults,
  // Clocks
  row(
    "clock ahead",
    "clock",
    "both",
    "A process's clock steps ahead by 2 s to 10 minutes.",
    "Nothing that is stored or compared comes from it.",
  ),
  row(
    "clock behind",
    "clock",
    "both",
    "It steps back by 2 s to 10 minutes.",
    "Nothing that is stored or compared comes from it.",
  ),
  row(
    "clocks drift apart",
    "clock",
    "both",
    "Every process has a clock of its own, seconds to minutes off.",
    "Nothing that is stored or compared comes from it.",
  ),
  row(
    "an hour for two seconds",
    "clock",
    "both",
    "A clock is an hour ahead for two seconds.",
    "No id, lease or expiry keeps the hour.",
  ),
  // The network
  row("connections cut", "network", "chaos", "All connections of a link are reset.", resumed),
  row(
    "black hole",
    "network",
    "chaos",
    "What is open swallows bytes both ways without a word; new connections work.",
    resumed,
  ),
  row("half-open connections", "network", "chaos", "The server's end is gone and the caller is not told.", resumed),
  row("answers broken off", "network", "chaos", "The connection is reset after the answer's first byte.", resumed),
  // Our own processes and the servers under them
  row(
    "process killed",
    "process",
    "chaos",
    "SIGKILL at any instruction.",
    "A successor goes on; nothing is done twice or not at all.",
  ),
  row(
    "process frozen",
    "process",
    "chaos",
    "It stands still for up to 4 s, then goes on as if nothing had been.",
    "Leases that ended meanwhile are noticed before anything is written.",
  ),
  row("broker killed", "broker", "chaos", "SIGKILL; it comes back with what it had on disk.", announcedOnce),
  row("broker frozen", "broker", "chaos", "It stands still for up to 4 s.", announcedOnce),
  row(
    "stream deleted",
    "broker",
    "chaos",
    "A stream is gone, with events that nobody has consumed yet.",
    "Its service makes it again and publishes again what not everybody has taken in.",
  ),
  {
    ...row(
      "broker lost its last seconds",
      "broker",
      "drill",
      "It comes back without its last writes, or with an empty store.",
      "As for a stream that is gone.",
    ),
    because: "`flows/platform/streams` and `npm run prove -- alarms`: it needs a store of before",
  },
  row(
    "database killed",
    "database",
    "chaos",
    "SIGKILL; it recovers from its log.",
    "What was committed is there; what was not is done again.",
  ),
  row("database frozen", "database", "chaos", "It stands still for up to 4 s.", resumed),
  row(
    "database read-only",
    "database",
    "chaos",
    "New transactions may not write for a while, as after a failover by halves.",
    resumed,
  ),
  {
    ...row(
      "failover without the last commits",
      "database",
      "drill",
      "A standby takes over that has not all of them.",
      "Nothing is begun before a look at the broker has vouched for the server; then as for a database that is restored. With a synchronous standby nothing is lost.",
    ),
    because:
      "`npm run prove -- failover` for the synchronous standby, `npm run prove -- restore --from standby` for the other",
  },
  {
    ...row(
      "database restored",
      "database",
      "drill",
      "It stands where it stood five minutes ago.",
      "Noticed within seconds; nothing new is begun until sessions and payments are rebuilt from events and processors.",
    ),
    because: restore,
  },
  {
    ...row(
      "disk full",
      "database",
      "drill",
      "Nothing can be written.",
      "503 and nothing else; goes on when there is room.",
    ),
    because: full,
  },
  // Operators
  row("risk rule added", "operator", "both", "A rule that blocks is added in the middle of flows, and removed.", kept),
  row("connector deactivated", "operator", "both", "The connector takes no new sessions, then it does again.", kept),
  row("refunds switched off", "operator", "both", "A merchant's refunds are off for a while.", kept),
  row(
    "API key replaced",
    "operator",
    "both",
    "A new key is made and the old one revoked at once.",
    "Requests with the new key go on with what the old one began.",
  ),
  row(
    "credentials rotated",
    "operator",
    "both",
    "The connector's webhook secret changes, the old one being good for a while.",
    announcedOnce,
  ),
  row("surface changed", "operator", "both", "New sessions use another surface.", kept),
  row(
    "fee schedule changed",
    "operator",
    "both",
    "Another fee begins, also between a capture and the news of it.",
    "Each capture has the fee in effect at the processor's time of it.",
  ),
  row(
    "items resolved at once",
    "operator",
    "both",
    "Several operators end one item of their list, each by an action that it offers.",
    "One of them does: what is taken is not given back.",
  ),
  row(
    "operation parked",
    "operator",
    "both",
    "Operators ask again about a parked operation and say what became of it, at once.",
    once,
  ),
  // Merchants
  row(
    "one key for an order",
    "merchant's server",
    "both",
    "It takes an order's number as the key of every request about the order, and repeats them days later.",
    "Each operation has its own key: one answer, one object, whatever became of the other operations' keys.",
  ),
  row(
    "endpoint fails",
    "merchant's server",
    "chaos",
    "It answers 503, cuts the connection or takes its time.",
    "Each event is delivered at least once, under one delivery id.",
  ),
] as const satisfies readonly FaultRow[];

type Row = (typeof faultTable)[number];
export type FaultName = Row["name"];
/** What a walk draws, and what a chaos run does. */
export type WalkFault = Extract<Row, { drawnBy: "walk" | "both" }>["name"];
export type ChaosFault = Extract<Row, { drawnBy: "chaos" | "both" }>["name"];
/** What needs a rig whose network and servers are its own. */
export type ChaosOnlyFault = Exclude<ChaosFault, WalkFault>;
