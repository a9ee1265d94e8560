// Room for request bodies: how many bytes of them may be under way at once, of one sender and of all. A body takes its
// room before its first byte is read, so that no number of open sockets fills the memory of the process.

/** Sizes in bytes. */
export interface RoomSize {
  readonly total: number;
  /** What one sender may take of it. */
  readonly perSender: number;
  /** What the smallest body takes: its socket and its request cost memory too, so this bounds their number. */
  readonly leastPerBody: number;
}

export class BodyRoom {
  readonly #size: RoomSize;
  readonly #bySender = new Map<string, number>();
  #usedBytes = 0;

  constructor(size: RoomSize) {
    this.#size = size;
  }

  /** @returns gives the room back, once however often it is called; undefined: there is none. */
  take(sender: string, bodyBytes: number): (() => void) | undefined {
    const bytes = Math.max(bodyBytes, this.#size.leastPerBody);
    const own = (this.#bySender.get(sender) ?? 0) + bytes;
    if (own > this.#size.perSender || this.#usedBytes + bytes > this.#size.total) return undefined;
    this.#bySender.set(sender, own);
    this.#usedBytes += bytes;
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      this.#giveBack(sender, bytes);
    };
  }

  #giveBack(sender: string, bytes: number): void {
    this.#usedBytes -= bytes;
    const left = (this.#bySender.get(sender) ?? 0) - bytes;
    if (left > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
  }
}
