// The two consoles ("doors"). Each has its own origin, sessions and roles. A passkey works for its origin's host.

export type Door = "merchants" | "operators";

export interface OpenDoor {
  readonly door: Door;
  readonly origin: string;
  /** The relying party of its passkeys: the origin's host. */
  readonly rpId: string;
}

export type Doors = ReadonlyMap<Door, OpenDoor>;

export function openDoors(origins: Readonly<Record<Door, string | undefined>>): Doors {
  const doors: readonly Door[] = ["merchants", "operators"];
  return new Map(
    doors.flatMap((door) => {
      const origin = origins[door];
      return origin === undefined ? [] : [[door, { door, origin, rpId: new URL(origin).hostname }] as const];
    }),
  );
}

/** @param merchantId empty for the installation */
export function doorOfScope(merchantId: string): Door {
  return merchantId === "" ? "operators" : "merchants";
}
