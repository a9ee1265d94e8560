// The two consoles. Each has an origin, sessions and roles of its own; a passkey is good for the host of its origin.
// Pure.

export type Door = "merchants" | "operators";

/** A console that people can come in by. */
export interface OpenDoor {
  readonly door: Door;
  /** What its browsers say they are at. */
  readonly origin: string;
  /** The relying party of its passkeys: the origin's host. */
  readonly rpId: string;
}

/** The doors that are open; one without an origin is not. */
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

/** Where a membership or an invitation lets in: the installation, or a merchant. */
export function doorOfScope(merchantId: string): Door {
  return merchantId === "" ? "operators" : "merchants";
}
