// Broker permissions of each process, subject by subject, and the nats-server configuration that enforces them
// (https://docs.nats.io, Accounts and Authorization). Only a source publishes its events. A consumer reads only what it
// follows. A source creates its missing stream. Only migrate changes one, and nothing deletes or purges one.

import { inboxOf, streamsApi } from "#platform/events/connection.ts";
import { consumersOf, eventSubject, limitsSubject, streamName } from "#platform/events/streams.ts";
import { durableConsumers, liveSubscriptions, type Source, sources } from "../../../services/services.ts";

export const brokerIdentities = [...sources, "gateway", "migrate"] as const;
export type BrokerIdentity = (typeof brokerIdentities)[number];

/** Processes that publish or read events. */
export const eventReaders = [...sources, "gateway"] as const;
export type EventReader = (typeof eventReaders)[number];

/** Sources whose events a process publishes or verifies: it has their keys. */
export function followedSources(reader: EventReader): Source[] {
  const followed = [...Object.values(durableConsumers), ...Object.values(liveSubscriptions)].filter(
    ({ by }) => by === reader,
  );
  return sources.filter((source) => source === reader || followed.some((one) => one.source === source));
}

/** Allowed subjects, where `*` is one word and `>` the rest. All others are denied. */
interface BrokerRights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

function brokerRights(identity: BrokerIdentity, namespace: string): BrokerRights {
  const amongItself = identity === "gateway" ? [limitsSubject(namespace)] : [];
  return {
    publish: [...amongItself, ...ofStreams(identity, namespace).map(({ subject }) => subject)],
    subscribe: [
      `${inboxOf(identity)}.>`,
      ...listSubscriptions(identity).map((subscription) => subjectOf(subscription, namespace)),
      ...amongItself,
    ],
  };
}

type LiveSubscription = (typeof liveSubscriptions)[keyof typeof liveSubscriptions];

function listSubscriptions(identity: BrokerIdentity): LiveSubscription[] {
  return Object.values(liveSubscriptions).filter(({ by }) => by === identity);
}

function subjectOf({ source, types }: LiveSubscription, namespace: string): string {
  return eventSubject(namespace, source, types);
}

/** A subject of a stream that may be published to. */
interface SentTo {
  readonly source: Source;
  readonly subject: string;
}

function ofStreams(identity: BrokerIdentity, namespace: string): SentTo[] {
  if (identity === "gateway") return [];
  if (identity === "migrate") return sources.flatMap((source) => ofMigrate(source, namespace));
  const all = [...ofSource(identity, namespace), ...ofFollower(identity, namespace)];
  // A service that consumes its own stream gets two CONSUMER.INFO subjects.
  return [...new Map(all.map((sent) => [sent.subject, sent])).values()];
}

function buildApiSubjects(source: Source, questions: readonly string[]): SentTo[] {
  return questions.map((question) => ({ source, subject: `${streamsApi}.${question}` }));
}

/**
 * Creates streams and consumers and widens them. It deletes a consumer that cannot be changed, or, for an operator, one
 * of an old release. Deleting and purging streams use other subjects.
 */
function ofMigrate(source: Source, namespace: string): SentTo[] {
  const stream = streamName(namespace, source);
  return buildApiSubjects(source, [
    ...["INFO", "CREATE", "UPDATE"].map((act) => `STREAM.${act}.${stream}`),
    ...makingConsumers(source, namespace),
    `CONSUMER.DELETE.${stream}.*`,
  ]);
}

/**
 * A source publishes, reports its stream's state to operators, creates its missing stream and consumers, and rereads
 * its own events (service/recovery.ts). The broker refuses to create a stream that differs. Consuming services create
 * no consumer: its delivery target is in the request's body, which no permission checks.
 */
function ofSource(source: Source, namespace: string): SentTo[] {
  const stream = streamName(namespace, source);
  return [
    { source, subject: eventSubject(namespace, source, ">") },
    ...buildApiSubjects(source, [
      `STREAM.INFO.${stream}`,
      `STREAM.CREATE.${stream}`,
      `STREAM.MSG.GET.${stream}`,
      ...makingConsumers(source, namespace),
    ]),
  ];
}

function makingConsumers(source: Source, namespace: string): string[] {
  const stream = streamName(namespace, source);
  return [
    `CONSUMER.LIST.${stream}`,
    ...consumersOf(source).flatMap(({ name, types }) => [
      `CONSUMER.INFO.${stream}.${name}`,
      `CONSUMER.CREATE.${stream}.${name}.${eventSubject(namespace, source, types)}`,
    ]),
  ];
}

/** Pulls and acknowledges the events of its own consumers. */
function ofFollower(service: Source, namespace: string): SentTo[] {
  const own = Object.values(durableConsumers).filter(({ by }) => by === service);
  return own.flatMap(({ name, source }) => {
    const stream = streamName(namespace, source);
    const acknowledged = { source, subject: `$JS.ACK.${stream}.${name}.>` };
    return [
      ...buildApiSubjects(source, [`CONSUMER.INFO.${stream}.${name}`, `CONSUMER.MSG.NEXT.${stream}.${name}`]),
      acknowledged,
    ];
  });
}

/**
 * The `accounts` block: one account per stream, without logins, and one per identity that imports what it may send to
 * streams and the live events it receives. The broker checks the subject of a publication, but not its reply subject or
 * a consumer's delivery subject. Within the identity's own account those reach only what it may write anyway.
 * @param keyOf the public NKEYs of each identity, or variables (`$PAYMENTS`); two while a key is being changed
 */
export function brokerAccounts(namespace: string, keyOf: (identity: BrokerIdentity) => readonly string[]): string {
  const streams = sources.map((source) => streamAccount(source, namespace));
  const identities = brokerIdentities.map((identity) => accountOf(identity, namespace, keyOf(identity)));
  return `accounts {\n${[...streams, ...identities].join("")}}\n`;
}

// The server's name for the API prefix of identities (connection.ts).
const serverApi = "$JS.API";
const accountOfStream = (source: Source) => `${source}-events`;

function streamAccount(source: Source, namespace: string): string {
  const stream = streamName(namespace, source);
  const consumer = ["CREATE", "INFO", "DELETE"].map((act) => `CONSUMER.${act}.${stream}.>`);
  const questions = [`STREAM.*.${stream}`, `STREAM.MSG.GET.${stream}`, `CONSUMER.LIST.${stream}`, ...consumer];
  const exported = [
    `service: "${eventSubject(namespace, source, ">")}"`,
    ...questions.map((question) => `service: "${serverApi}.${question}"`),
    // Many events per request.
    `service: "${serverApi}.CONSUMER.MSG.NEXT.${stream}.>", response_type: stream`,
    `service: "$JS.ACK.${stream}.>"`,
  ];
  return `  ${accountOfStream(source)} {\n    jetstream: enabled\n${list("exports", exported)}  }\n`;
}

function accountOf(identity: BrokerIdentity, namespace: string, keys: readonly string[]): string {
  const { publish, subscribe } = brokerRights(identity, namespace);
  const may = (subjects: readonly string[]) => `{ allow: [${subjects.map((subject) => `"${subject}"`).join(", ")}] }`;
  const permissions = `{ publish: ${may(publish)}, subscribe: ${may(subscribe)} }`;
  const users = keys.map((key) => `nkey: ${key}, permissions: ${permissions}`);
  // A stream's account does not pass events on to listeners, so they import from the source's account.
  const isElsewhere = ({ by, source }: LiveSubscription) => by !== source;
  const published = Object.values(liveSubscriptions).filter(
    (subscription) => subscription.source === identity && isElsewhere(subscription),
  );
  const exported = published.map(
    (subscription) => `stream: "${subjectOf(subscription, namespace)}", accounts: [${subscription.by}]`,
  );
  const from = (account: string, subject: string) => `{ account: ${account}, subject: "${subject}" }`;
  const imported = [
    ...ofStreams(identity, namespace).map(
      ({ source, subject }) => `service: ${from(accountOfStream(source), asServer(subject))}, to: "${subject}"`,
    ),
    ...listSubscriptions(identity)
      .filter(isElsewhere)
      .map((subscription) => `stream: ${from(subscription.source, subjectOf(subscription, namespace))}`),
  ];
  return `  ${identity} {\n${list("users", users)}${list("exports", exported)}${list("imports", imported)}  }\n`;
}

function list(name: string, entries: readonly string[]): string {
  if (entries.length === 0) return "";
  return `    ${name}: [\n${entries.map((entry) => `      { ${entry} }\n`).join("")}    ]\n`;
}

function asServer(subject: string): string {
  return subject.startsWith(`${streamsApi}.`) ? `${serverApi}${subject.slice(streamsApi.length)}` : subject;
}
