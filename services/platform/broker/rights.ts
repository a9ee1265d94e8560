// What each of our processes may do at the broker, subject by subject, and the block of nats-server's configuration
// that holds them to it (https://docs.nats.io, Authorization). A source alone publishes its events; a follower reads
// what it follows and nothing else, also by the inbox that its answers come to; a source makes its own stream where
// there is none; nobody but migrate changes one, and nobody at all deletes or purges one.
import { inboxOf } from "./connection.ts";
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
export interface BrokerRights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

export function brokerRights(identity: BrokerIdentity, namespace: string): BrokerRights {
  const heard = Object.values(heardEvents).filter(({ by }) => by === identity);
  return {
    publish: ["$JS.API.INFO", ...published(identity, namespace)],
    subscribe: [
      `${inboxOf(identity)}.>`,
      ...heard.map(({ source, types }) => eventSubject(namespace, source, types)),
      ...(identity === "gateway" ? [limitsSubject(namespace)] : []),
    ],
  };
}

function published(identity: BrokerIdentity, namespace: string): string[] {
  if (identity === "gateway") return [limitsSubject(namespace)];
  if (identity === "migrate") return sources.flatMap((source) => ofMigrate(streamName(namespace, source)));
  return [...ofSource(identity, namespace), ...ofFollower(identity, namespace)];
}

/** It makes streams and consumers, and widens them; deleting and purging have other subjects. */
function ofMigrate(stream: string): string[] {
  return [
    ...["INFO", "CREATE", "UPDATE"].map((act) => `$JS.API.STREAM.${act}.${stream}`),
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
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
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.CONSUMER.LIST.${stream}`,
  ];
}

/** It asks for the events of its own consumers, and acknowledges them. */
function ofFollower(service: Source, namespace: string): string[] {
  const own = Object.values(durableConsumers).filter(({ by }) => by === service);
  return own.flatMap(({ name, source, types }) => {
    const stream = streamName(namespace, source);
    return [
      `$JS.API.CONSUMER.CREATE.${stream}.${name}.${eventSubject(namespace, source, types)}`,
      `$JS.API.CONSUMER.INFO.${stream}.${name}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
      `$JS.ACK.${stream}.${name}.>`,
    ];
  });
}

/**
 * The `authorization` block. @param keyOf the public NKEYs that each identity may log in with, or names of variables
 * (`$PAYMENTS`) that stand for them; two while a key is changed
 */
export function brokerAuthorization(namespace: string, keyOf: (identity: BrokerIdentity) => readonly string[]): string {
  const users = brokerIdentities.flatMap((identity) => {
    const { publish, subscribe } = brokerRights(identity, namespace);
    const lines = (subjects: readonly string[]) => subjects.map((subject) => `        "${subject}"`).join("\n");
    return keyOf(identity).map((key) =>
      [
        `    # ${identity}`,
        `    { nkey: ${key}, permissions: {`,
        `      publish: { allow: [\n${lines(publish)}\n      ] }`,
        `      subscribe: { allow: [\n${lines(subscribe)}\n      ] }`,
        "    } }",
      ].join("\n"),
    );
  });
  return `authorization {\n  users: [\n${users.join("\n")}\n  ]\n}\n`;
}
