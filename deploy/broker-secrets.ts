// What a first installation's broker and its clients need, made at random: an identity for each process, the keys that prove whose an
// event is, and the broker's certificate with the authority that vouches for it. The authority's key is not kept: nobody can make another.
import { randomBytes } from "node:crypto";
import { brokerIdentities, eventReaders, followedSources } from "#platform/broker-rights.ts";
import { eventKeyLine } from "#platform/event-keys.ts";
import { newNkey } from "#platform/nkey.ts";
import { sources } from "#platform/streams.ts";
import { keyVariables } from "./broker-rights.ts";
import { makeAuthority, makeServerCertificate } from "./local/certificate.ts";

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Names of the broker as clients and its own servers call it; those of a cluster's servers are under nats-headless. */
const hosts = [
  "nats",
  "nats.tollbooth",
  "nats.tollbooth.svc",
  "nats.tollbooth.svc.cluster.local",
  "*.nats-headless",
  "localhost",
  "127.0.0.1",
];
// Inside the cluster alone, and pinned by the clients: made anew with `secrets manifests`, or by cert-manager under the same names.
const certificateDays = 3_650;

export function brokerSecrets(): Secrets {
  const pairs = brokerIdentities.map((identity) => ({ identity, ...newNkey() }));
  const keys = new Map(sources.map((source) => [source, eventKeyLine(source, randomBytes(32))]));
  const authority = makeAuthority("Tollbooth broker authority", certificateDays);
  const certificate = makeServerCertificate(
    authority,
    "Tollbooth broker authority",
    hosts,
    certificateDays,
    "client too",
  );
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
    "nats-tls": { "ca.crt": authority.cert, "tls.crt": certificate.cert, "tls.key": certificate.key },
  };
}
