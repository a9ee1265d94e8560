// NKEYs for the broker identities and the event keys of a local stack, each in a file. They are random, created on the
// first start; a file that the user changes keeps its content, and the broker's logins follow it.
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { perSource, type Source, sources } from "../../../services/services.ts";
import {
  type BrokerIdentity,
  brokerAccounts,
  brokerIdentities,
  type EventReader,
  eventReaders,
  followedSources,
} from "../../cli/setup/broker-rights.ts";
import { eventKeyLine, newNkey, publicNkeyOf } from "../../cli/setup/identities.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** Absolute paths, mode 0600. */
export interface BrokerFiles {
  /** A seed per identity, for the stack's own broker. */
  readonly nkeys: Readonly<Record<BrokerIdentity, string>>;
  /** The event keys that a process needs. */
  readonly eventKeys: Readonly<Record<EventReader, string>>;
}

/** Creates missing files. */
export async function brokerFiles(stateDir: string): Promise<BrokerFiles> {
  await mkdir(join(stateDir, "broker"), { recursive: true, mode: 0o700 });
  const files = brokerFilesIn(stateDir);
  for (const identity of brokerIdentities) await keep(files.nkeys[identity], () => newNkey().seed);
  const lines = new Map<Source, string>();
  for (const source of sources) {
    const path = join(stateDir, "broker", `${source}.key`);
    lines.set(source, await keep(path, () => eventKeyLine(source, randomBytes(32))));
  }
  for (const reader of eventReaders) {
    const known = followedSources(reader).map((source) => lines.get(source));
    await writePrivate(files.eventKeys[reader], `${known.join("\n")}\n`);
  }
  return files;
}

export function brokerFilesIn(stateDir: string): BrokerFiles {
  const nkey = (identity: BrokerIdentity) => join(stateDir, "broker", `${identity}.nkey`);
  const keys = (reader: EventReader) => join(stateDir, "broker", `${reader}.event-keys`);
  return {
    nkeys: { ...perSource(nkey), gateway: nkey("gateway"), migrate: nkey("migrate") },
    eventKeys: { ...perSource(keys), gateway: keys("gateway") },
  };
}

/** The accounts block of the stack's own broker. */
export async function brokerLogins(files: BrokerFiles, namespace: string): Promise<string> {
  const keys = new Map<BrokerIdentity, string>();
  for (const identity of brokerIdentities)
    keys.set(identity, publicNkeyOf((await readIfThere(files.nkeys[identity])) ?? ""));
  return brokerAccounts(namespace, (identity) => [keys.get(identity) ?? ""]);
}

async function keep(path: string, make: () => string): Promise<string> {
  const known = (await readIfThere(path))?.trim();
  if (known) return known;
  const made = make();
  await writePrivate(path, `${made}\n`);
  return made;
}
