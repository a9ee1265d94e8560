// What each of our processes may do at the broker, subject by subject, and the block of nats-server's configuration
// that holds them to it (https://docs.nats.io, Accounts and Authorization). A source alone publishes its events; a
// follower reads what it follows and nothing else, also by the inbox that its answers come to; a source makes its own
// stream where there is none; nobody but migrate changes one, and nobody at all deletes or purges one.
import { inboxOf, streamsApi } from "./connection.ts";
import {
  durableConsumers,
  eventSubject,
  heardEvents,
  limitsSubject,
  type Source,
  sources,
  streamName,
} from "./streams.ts";

export const brokerIdentities = [...sources, "gateway", "migrate"] as const;
export type BrokerIdentity = (typeof brokerIdentities)[number];

/** Who publishes or reads events. */
export const eventReaders = [...sources, "gateway"] as const;
export type EventReader = (typeof eventReaders)[number];

/** Whose events a process publishes or believes: those that it has the keys of. */
export function followedSources(reader: EventReader): Source[] {
  const followed = [...Object.values(durableConsumers), ...Object.values(heardEvents)].filter(
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
    publish: [...amongItself, ...ofStreams(identity, namespace)],
    subscribe: [
      `${inboxOf(identity)}.>`,
      ...heardBy(identity).map((heard) => subjectOf(heard, namespace)),
      ...amongItself,
    ],
  };
}

type Heard = (typeof heardEvents)[keyof typeof heardEvents];

function heardBy(identity: BrokerIdentity): Heard[] {
  return Object.values(heardEvents).filter(({ by }) => by === identity);
}

function subjectOf({ source, types }: Heard, namespace: string): string {
  return eventSubject(namespace, source, types);
}

function ofStreams(identity: BrokerIdentity, namespace: string): string[] {
  if (identity === "gateway") return [];
  if (identity === "migrate") return sources.flatMap((source) => ofMigrate(streamName(namespace, source)));
  return [...ofSource(identity, namespace), ...ofFollower(identity, namespace)];
}

/** It makes streams and consumers, and widens them; deleting and purging have other subjects. */
function ofMigrate(stream: string): string[] {
  return [
    ...["INFO", "CREATE", "UPDATE"].map((act) => `${streamsApi}.STREAM.${act}.${stream}`),
    `${streamsApi}.CONSUMER.INFO.${stream}.*`,
    `${streamsApi}.CONSUMER.CREATE.${stream}.>`,
  ];
}

/**
 * It publishes, tells operators how its stream is, makes it where it is missing, and reads again what it announced
 * itself (operate/recovery.ts). The broker refuses to make one that stands any different. Who reads it makes the
 * consumers (ofFollower).
 */
function ofSource(source: Source, namespace: string): string[] {
  const stream = streamName(namespace, source);
  return [
    eventSubject(namespace, source, ">"),
    `${streamsApi}.STREAM.INFO.${stream}`,
    `${streamsApi}.STREAM.CREATE.${stream}`,
    `${streamsApi}.STREAM.MSG.GET.${stream}`,
    `${streamsApi}.CONSUMER.LIST.${stream}`,
  ];
}

/** It asks for the events of its own consumers, and acknowledges them. */
function ofFollower(service: Source, namespace: string): string[] {
  const own = Object.values(durableConsumers).filter(({ by }) => by === service);
  return own.flatMap(({ name, source, types }) => {
    const stream = streamName(namespace, source);
    return [
      `${streamsApi}.CONSUMER.CREATE.${stream}.${name}.${eventSubject(namespace, source, types)}`,
      `${streamsApi}.CONSUMER.INFO.${stream}.${name}`,
      `${streamsApi}.CONSUMER.MSG.NEXT.${stream}.${name}`,
      `$JS.ACK.${stream}.${name}.>`,
    ];
  });
}

/**
 * The `accounts` block: one account has the streams, and nobody logs in to it; each identity has one of its own, with
 * imports for what it may send there and for what it hears of others as they publish it. The broker checks the subject
 * that somebody publishes to, and not the one that the answer goes to: in an account of its own that leads only where
 * the identity may write anyway.
 * @param keyOf the public NKEYs that each identity may log in with, or names of variables (`$PAYMENTS`) that stand for
 * them; two while a key is changed
 */
export function brokerAccounts(namespace: string, keyOf: (identity: BrokerIdentity) => readonly string[]): string {
  const accounts = brokerIdentities.map((identity) => accountOf(identity, namespace, keyOf(identity)));
  return `accounts {\n${[accountOfStreams(namespace), ...accounts].join("")}}\n`;
}

const streamsAccount = "streams"; // no process is called so
// What a server calls what identities ask by (connection.ts).
const serverApi = "$JS.API";

function accountOfStreams(namespace: string): string {
  const events = sources.map((source) => eventSubject(namespace, source, ">"));
  const questions = ["STREAM.>", "CONSUMER.CREATE.>", "CONSUMER.INFO.>", "CONSUMER.LIST.>"];
  const exported = [
    ...events.map((subject) => `service: "${subject}"`),
    ...questions.map((question) => `service: "${serverApi}.${question}"`),
    // Many events to one question.
    `service: "${serverApi}.CONSUMER.MSG.NEXT.>", response_type: stream`,
    'service: "$JS.ACK.>"',
  ];
  return `  ${streamsAccount} {\n    jetstream: enabled\n${list("exports", exported)}  }\n`;
}

function accountOf(identity: BrokerIdentity, namespace: string, keys: readonly string[]): string {
  const { publish, subscribe } = brokerRights(identity, namespace);
  const may = (subjects: readonly string[]) => `{ allow: [${subjects.map((subject) => `"${subject}"`).join(", ")}] }`;
  const permissions = `{ publish: ${may(publish)}, subscribe: ${may(subscribe)} }`;
  const users = keys.map((key) => `nkey: ${key}, permissions: ${permissions}`);
  // What passes over to the streams is not handed on from there to who hears it, so it is heard at its source.
  const isElsewhere = ({ by, source }: Heard) => by !== source;
  const told = Object.values(heardEvents).filter((heard) => heard.source === identity && isElsewhere(heard));
  const exported = told.map((heard) => `stream: "${subjectOf(heard, namespace)}", accounts: [${heard.by}]`);
  const from = (account: string, subject: string) => `{ account: ${account}, subject: "${subject}" }`;
  const imported = [
    ...ofStreams(identity, namespace).map(
      (subject) => `service: ${from(streamsAccount, asServer(subject))}, to: "${subject}"`,
    ),
    ...heardBy(identity)
      .filter(isElsewhere)
      .map((heard) => `stream: ${from(heard.source, subjectOf(heard, namespace))}`),
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
