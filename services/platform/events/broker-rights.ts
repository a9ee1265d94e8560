// What each of our processes may do at the broker, subject by subject, and the block of nats-server's configuration
// that holds them to it (https://docs.nats.io, Accounts and Authorization). A source alone publishes its events; a
// follower reads what it follows and nothing else, also by the inbox that its answers come to; a source makes its own
// stream where there is none; nobody but migrate changes one, and nobody at all deletes or purges one.

import { durableConsumers, liveSubscriptions, type Source, sources } from "../../services.ts";
import { inboxOf, streamsApi } from "./connection.ts";
import { consumersOf, eventSubject, limitsSubject, streamName } from "./streams.ts";

export const brokerIdentities = [...sources, "gateway", "migrate"] as const;
export type BrokerIdentity = (typeof brokerIdentities)[number];

/** Who publishes or reads events. */
export const eventReaders = [...sources, "gateway"] as const;
export type EventReader = (typeof eventReaders)[number];

/** Whose events a process publishes or believes: those that it has the keys of. */
export function followedSources(reader: EventReader): Source[] {
  const followed = [...Object.values(durableConsumers), ...Object.values(liveSubscriptions)].filter(
    ({ by }) => by === reader,
  );
  return sources.filter((source) => source === reader || followed.some((one) => one.source === source));
}

/** Subjects, in which `*` stands for one word and `>` for the rest. Whatever is not named is refused. */
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

/** Of a stream: what may be sent there. */
interface SentTo {
  readonly source: Source;
  readonly subject: string;
}

function ofStreams(identity: BrokerIdentity, namespace: string): SentTo[] {
  if (identity === "gateway") return [];
  if (identity === "migrate") return sources.flatMap((source) => ofMigrate(source, namespace));
  const all = [...ofSource(identity, namespace), ...ofFollower(identity, namespace)];
  // Who follows its own stream may ask about its consumers twice.
  return [...new Map(all.map((sent) => [sent.subject, sent])).values()];
}

function buildApiSubjects(source: Source, questions: readonly string[]): SentTo[] {
  return questions.map((question) => ({ source, subject: `${streamsApi}.${question}` }));
}

/**
 * It makes streams and consumers, and widens them. It takes away a consumer that cannot be made what it should be, and,
 * in an operator's hand, one of a release that runs no longer; deleting and purging streams have other subjects.
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
 * It publishes, tells operators how its stream is, makes it and its consumers where they are missing, and reads again
 * what it announced itself (service/recovery.ts). The broker refuses to make a stream that stands any different. Who
 * follows makes no consumer: what it delivers, and where to, stands in the question's body, which no permission sees.
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

/** It asks for the events of its own consumers, and acknowledges them. */
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
 * The `accounts` block: one account for each stream, where nobody logs in, and one for each identity, with imports for
 * what it may send to streams and for what it hears of others as they publish it. The broker checks the subject that
 * somebody publishes to, and not the one that the answer goes to, nor where a consumer delivers: in an account of its
 * own that leads only where its owner may write anyway.
 * @param keyOf the public NKEYs that each identity may log in with, or names of variables (`$PAYMENTS`) that stand for
 * them; two while a key is changed
 */
export function brokerAccounts(namespace: string, keyOf: (identity: BrokerIdentity) => readonly string[]): string {
  const streams = sources.map((source) => streamAccount(source, namespace));
  const identities = brokerIdentities.map((identity) => accountOf(identity, namespace, keyOf(identity)));
  return `accounts {\n${[...streams, ...identities].join("")}}\n`;
}

// What a server calls what identities ask by (connection.ts).
const serverApi = "$JS.API";
const accountOfStream = (source: Source) => `${source}-events`;

function streamAccount(source: Source, namespace: string): string {
  const stream = streamName(namespace, source);
  const consumer = ["CREATE", "INFO", "DELETE"].map((act) => `CONSUMER.${act}.${stream}.>`);
  const questions = [`STREAM.*.${stream}`, `STREAM.MSG.GET.${stream}`, `CONSUMER.LIST.${stream}`, ...consumer];
  const exported = [
    `service: "${eventSubject(namespace, source, ">")}"`,
    ...questions.map((question) => `service: "${serverApi}.${question}"`),
    // Many events to one question.
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
  // What passes over to the streams is not handed on from there to who hears it, so it is heard at its source.
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
