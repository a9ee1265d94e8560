// What a first installation's broker and its clients need, made at random: an identity for each process, the keys that
// prove whose an event is, and the broker's certificate.
import { randomBytes } from "node:crypto";
import {
  type BrokerIdentity,
  brokerIdentities,
  eventReaders,
  followedSources,
} from "#platform/events/broker-rights.ts";
import { eventKeyLine } from "#platform/events/event-keys.ts";
import { newNkey } from "#platform/secrets/nkey.ts";
import { sources } from "../../../services/services.ts";
import { makeCertificateSecret } from "./server-certificate.ts";

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The variables of an identity's two public keys. */
export function keyVariables(identity: BrokerIdentity): readonly [string, string] {
  const name = `${identity.toUpperCase()}_NKEY`;
  return [name, `${name}_PREVIOUS`];
}

export async function brokerSecrets(): Promise<Secrets> {
  const pairs = brokerIdentities.map((identity) => ({ identity, ...newNkey() }));
  const keys = new Map(sources.map((source) => [source, eventKeyLine(source, randomBytes(32))]));
  return {
    ...Object.fromEntries(pairs.map(({ identity, seed }) => [`nats-nkey-${identity}`, { seed }])),
    // Until a key is changed, the second one is nobody's.
    "nats-logins": Object.fromEntries(
      pairs.flatMap(({ identity, publicKey }) => {
        const [present, previous] = keyVariables(identity);
        return [
          [present, publicKey],
          [previous, newNkey().publicKey],
        ];
      }),
    ),
    ...Object.fromEntries(
      eventReaders.map((reader) => {
        const lines = followedSources(reader).map((source) => keys.get(source) ?? "");
        return [`event-keys-${reader}`, { keys: `${lines.join("\n")}\n` }];
      }),
    ),
    // The servers of a cluster are under nats-headless, and show it to each other.
    "nats-tls": await makeCertificateSecret("Tollbooth broker authority", "nats", ["*.nats-headless"], "client too"),
  };
}
