// Random secrets of a new installation's broker and its clients: an identity per process, event keys, and the broker's
// certificate.
import { randomBytes } from "node:crypto";
import { sources } from "../../../services/services.ts";
import { type BrokerIdentity, brokerIdentities, eventReaders, followedSources } from "./broker-rights.ts";
import { eventKeyLine, newNkey } from "./identities.ts";
import type { Secrets } from "./secret-formats.ts";
import { makeCertificateSecret } from "./server-certificate.ts";

/** Variables of an identity's two public keys. */
export function keyVariables(identity: BrokerIdentity): readonly [string, string] {
  const name = `${identity.toUpperCase()}_NKEY`;
  return [name, `${name}_PREVIOUS`];
}

export async function brokerSecrets(): Promise<Secrets> {
  const pairs = brokerIdentities.map((identity) => ({ identity, ...newNkey() }));
  const keys = new Map(sources.map((source) => [source, eventKeyLine(source, randomBytes(32))]));
  return {
    ...Object.fromEntries(pairs.map(({ identity, seed }) => [`nats-nkey-${identity}`, { seed }])),
    // The second key belongs to no process until a rotation.
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
    "nats-tls": await brokerCertificate(),
  };
}

/** The servers of a cluster connect to each other under nats-headless. */
export function brokerCertificate(): Promise<Readonly<Record<string, string>>> {
  return makeCertificateSecret("Tollbooth broker authority", "nats", ["*.nats-headless"], "client too");
}
