// The fault model: how processors, clocks, the network, brokers, databases, operators and merchants' servers fail,
// which run injects each fault, and the guarantee under it. docs/faults.md shows the same rows; drivers are keyed by
// the rows' names, and a row without a driver does not compile.

/** The component that fails. */
export type Culprit =
  | "processor"
  | "clock"
  | "network"
  | "broker"
  | "database"
  | "process"
  | "operator"
  | "merchant's server";
/** `drill`: a separate test or command, named by the row, proves it. */
export type DrawnBy = "walk" | "chaos" | "both" | "drill";

export interface FaultRow {
  readonly name: string;
  readonly who: Culprit;
  readonly drawnBy: DrawnBy;
  readonly what: string;
  /** The guarantee under this fault. */
  readonly promise: string;
  /** For a drill: the test or command, and the reason. */
  readonly because?: string;
}

// docs/faults.md explains these above its table.
const once = "Done once.";
const noted = "Checked again.";
const announcedOnce = "Books agree.";
const resumed = "Repeated once.";
const kept = "Later ones only.";
const otherClock = "No stored or compared time comes from that clock.";

export const faultTable = [
  ...rows("processor", "both", {
    // Responses
    "answers early, works late": ["An immediate 5xx; the work is done seconds later.", once],
    "502 page from the edge": ["A 502 with HTML; nothing is done.", once],
    "5xx before the work": ["A 500; nothing is done.", once],
    "5xx during the work": ["A 500 while the work continues.", once],
    "5xx after the work": ["A 500 although the work is done.", once],
    "stored 500 replayed": [
      "A key whose first response was a 500 gets that response on each retry.",
      `${once} A capture or an upload gets a new key sooner, because a second one has no effect.`,
    ],
    "409 in progress": ["The processor reports that the key is in use.", noted],
    "429 too many": ["The call is rejected by a rate limit or a lock.", noted],
    "408 and 425": ["A proxy answers Request Timeout or Too Early.", noted],
    "silence after the work": ["The work is done; no response arrives.", once],
    "cut after the first byte": ["The connection breaks in the middle of the response.", once],
    "slow answers": ["Responses take from 0.1 s to longer than the call's deadline.", noted],
    "slow lists": ["Lists, statements and event lists are slow.", noted],
    "lists that lag": ["New objects are missing from lists for a while.", once],
    "404 for what was made": ["An existing object answers 404 for a while.", noted],
    "intent lost for good": [
      "An intent that the processor created is gone.",
      "Checked until the loss is proved; then the operators' list shows the payment with the action that ends it.",
    ],
    "keys forgotten": ["Idempotency keys expire.", once],
    "processor outage": [
      "Every call for an account fails for a while.",
      "The circuit opens; new sessions go to the merchant's other account if allowed, and no session is charged at both.",
    ],
    // Events
    "events late": ["Webhooks are sent late.", announcedOnce],
    "events doubled": ["Webhooks are sent twice.", announcedOnce],
    "events reordered": ["The newest webhook arrives first.", announcedOnce],
    "events dropped once": ["A webhook's first attempt is lost.", announcedOnce],
    "events held": [
      "No webhook about a payment arrives until the end of the run.",
      "The books agree meanwhile, from polling open payments and reading the event list.",
    ],
    "events lost permanently": ["A webhook is never sent.", "Found in the processor's event list within two polls."],
    "event list lags": ["The newest events are missing from the event list for a while.", announcedOnce],
    // Changes to a payment's money that a processor makes on its own
    "refund fails later": [
      "A refund that succeeded fails days later.",
      "The amount is restored in the payment and the journal; the payment.refunded event stays.",
    ],
    "several disputes": [
      "One payment is disputed more than once.",
      "Each is booked; the payment is disputed while one is open or lost.",
    ],
    "debit returned": [
      "A successful debit is returned.",
      "The journal reverses the capture; the payment is failed with code returned.",
    ],
    "paid again after a return": [
      "A captured debit is returned and its buyer authorizes the payment again before the capture's webhook arrives.",
      "The last attempt counts: late reports of the previous one change nothing, and the new capture is booked.",
    ],
    "reference changed": [
      "The reference of a paid intent is removed or changed to another payment's, as by an edit in the processor's dashboard.",
      "The intent's id decides: refunds and disputes stay with the payment, and no other payment changes.",
    ],
    "captured at the dashboard": [
      "All or part of an authorization is captured in the processor's dashboard, also during our capture.",
      "Booked once; our capture is rejected or identical. A different amount raises an alert.",
    ],
    "captured again": [
      "More of an authorization is captured after the first capture.",
      "Booked separately with its fee, with an alert.",
    ],
    "authorization lapses": [
      "It expires, also during a capture or a cancellation.",
      "The payment is canceled with code expired; nothing is captured, and the operation under way ends.",
    ],
    "declined at one account": [
      "A card is declined with a code that the merchant's routing names.",
      "The intent is ended before the next account gets one; never two captured intents.",
    ],
    "page ends early": [
      "The processor's payment page expires before the session, also while the buyer pays.",
      "The processor's report decides whether it was paid; if not, one new intent replaces it, and only one of them can be paid.",
    ],
    "amounts that differ": [
      "The intent has another amount or currency than requested.",
      "Not booked as the payment: listed as unexpected funds with the available actions.",
    ],
    "second charge": [
      "A second intent under our reference is paid.",
      "Unexpected funds in the list and the journal; an operator refunds, accepts or closes them.",
    ],
    "excess capture": [
      "More is captured than requested.",
      "The payment shows the requested amount; the excess is unexpected funds.",
    ],
    "second refund": [
      "A second refund under our reference.",
      "A separate refund, counted in the refunded amount, and unexpected funds.",
    ],
  }),
  ...rows("clock", "both", {
    "clock ahead": ["A process's clock steps forward by 2 s to 10 minutes.", otherClock],
    "clock behind": ["A process's clock steps back by 2 s to 10 minutes.", otherClock],
    "clocks drift apart": ["Each process's clock is off by seconds to minutes.", otherClock],
    "an hour for two seconds": [
      "A clock is an hour ahead for two seconds.",
      "No id, lease or expiry contains the wrong hour.",
    ],
  }),
  ...rows("network", "chaos", {
    "connections cut": ["All connections of a link are reset.", resumed],
    "black hole": ["Open connections drop all bytes silently in both directions; new connections work.", resumed],
    "half-open connections": ["The server's end is closed and the caller gets no FIN or RST.", resumed],
    "answers broken off": ["The connection is reset after the first byte of the response.", resumed],
  }),
  ...rows("process", "chaos", {
    "process killed": ["SIGKILL at any instruction.", "A successor continues; each operation takes effect once."],
    "process frozen": ["SIGSTOP for up to 4 s, then SIGCONT.", "The process notices expired leases before it writes."],
  }),
  ...rows("broker", "chaos", {
    "broker killed": ["SIGKILL; it restarts from its disk.", announcedOnce],
    "broker frozen": ["SIGSTOP for up to 4 s.", announcedOnce],
    "stream deleted": [
      "A stream is deleted with events that are not consumed yet.",
      "Its service creates the stream again and republishes events that a consumer still needs.",
    ],
  }),
  ...rows("broker", "drill", {
    "broker lost its last seconds": [
      "It restarts without its last writes, or with an empty store.",
      "As for a deleted stream.",
      "`flows/platform/streams` and `npm run prove -- alarms`, because it needs an older store",
    ],
  }),
  ...rows("database", "chaos", {
    "database killed": ["SIGKILL; it recovers from its log.", "Committed work is kept; uncommitted work is retried."],
    "database frozen": ["SIGSTOP for up to 4 s.", resumed],
    "database read-only": ["New transactions are read-only for a while, as after an incomplete failover.", resumed],
  }),
  ...rows("database", "drill", {
    "failover without the last commits": [
      "The promoted standby lacks the last commits.",
      "Services start work only after a comparison with the broker's streams; then as for a restored database. A synchronous standby loses nothing.",
      "`npm run prove -- failover` for the synchronous standby, `npm run prove -- restore --from standby` for the other",
    ],
    "database restored": [
      "It is five minutes old.",
      "Detected within seconds; no new work starts until sessions and payments are rebuilt from events and processors.",
      "`flows/payments/recovery` and `flows/platform/recovery-fence`, because it needs a backup",
    ],
    "disk full": [
      "Writes fail.",
      "Requests get 503; work continues when there is space.",
      "by hand, on a separate volume of 110 MB",
    ],
  }),
  ...rows("operator", "both", {
    "risk rule added": ["A blocking rule is added during payments, then removed.", kept],
    "connector deactivated": ["The connector is deactivated, then activated again.", kept],
    "refunds switched off": ["A merchant's refunds are disabled for a while.", kept],
    "API key replaced": [
      "A new key is created and the old one revoked immediately.",
      "Requests with the new key continue work that the old one started.",
    ],
    "credentials rotated": [
      "The connector's webhook secret changes; the old one stays valid for a while.",
      announcedOnce,
    ],
    "surface changed": ["New sessions use another surface.", kept],
    "fee schedule changed": [
      "A new fee takes effect, also between a capture and its report.",
      "Each capture has the fee in effect at the processor's capture time.",
    ],
    "items resolved concurrently": [
      "Several operators resolve one item at the same time with different actions.",
      "One action succeeds: accepted money is not refunded as well.",
    ],
    "operation parked": ["Operators retry a parked operation and record its outcome at the same time.", once],
  }),
  ...rows("merchant's server", "both", {
    "one key for an order": [
      "It uses the order number as the idempotency key of every request for the order, and repeats them days later.",
      "Keys are separate per operation: each request has one response and one object.",
    ],
  }),
  ...rows("merchant's server", "chaos", {
    "endpoint fails": [
      "It answers 503, resets the connection or answers slowly.",
      "Each event is delivered at least once, with one delivery id.",
    ],
  }),
];

type Words = readonly [what: string, promise: string, because?: string];

function rows<By extends DrawnBy, Name extends string>(
  who: Culprit,
  drawnBy: By,
  table: Readonly<Record<Name, Words>>,
) {
  const names = Object.keys(table) as Name[];
  return names.map((name) => {
    const [what, promise, because] = table[name];
    return { name, who, drawnBy, what, promise, ...(because !== undefined && { because }) };
  });
}

type Row = (typeof faultTable)[number];
export type FaultName = Row["name"];
/** Faults that a walk, and that a chaos run, injects. */
export type WalkFault = Extract<Row, { drawnBy: "walk" | "both" }>["name"];
export type ChaosFault = Extract<Row, { drawnBy: "chaos" | "both" }>["name"];
/** Faults that need separate servers and network links. */
export type ChaosOnlyFault = Exclude<ChaosFault, WalkFault>;
