// Compares a stream with what its service published: complete, or which events the broker has lost. Pure.

export interface KnownStream {
  /** Empty when no stream has been seen. */
  readonly stream: string;
  /** The broker's creation time, which distinguishes two streams of one name. */
  readonly madeAt: string;
  readonly consumers: readonly string[];
  /** The highest known position in the stream. */
  readonly lastSeq: number;
  /** All consumers have consumed their events up to this position. */
  readonly consumedSeq: number;
}

export interface SeenStream {
  readonly stream: string;
  readonly madeAt: string;
  /** It was missing, and this process created it. */
  readonly isOurs: boolean;
  readonly lastSeq: number;
  /** Empty positions between the first and the last. Events cannot be deleted, so the store has lost them. */
  readonly gaps: readonly number[];
  readonly consumers: readonly SeenConsumer[];
}

export interface SeenConsumer {
  readonly name: string;
  readonly madeAt: string;
  /** It has acknowledged its events up to this position. */
  readonly consumedSeq: number;
}

export const lossKinds = ["another_stream", "shorter", "gaps"] as const;

export type Finding =
  | {
      readonly kind: "whole";
      readonly consumedSeq: number;
      /** All consumers have consumed every event. */
      readonly isSettled: boolean;
      /** A new consumer needs events that the others have consumed. */
      readonly hasNewConsumer: boolean;
      /** Empty positions that a consumer still needs; the rest of the stream is complete. */
      readonly gaps: readonly number[];
    }
  | { readonly kind: "another_stream" }
  /** It ends before a known position: its store lost the end or is an older copy. */
  | { readonly kind: "shorter" };

/** @param known as stored before the broker was asked */
export function judgeStream(known: KnownStream, seen: SeenStream): Finding {
  const isFirst = known.stream === "";
  const isSame = known.stream === seen.stream && known.madeAt === seen.madeAt;
  // A stream that exists at the first check is the one that events were published to.
  if (isFirst ? seen.isOurs : !isSame) return { kind: "another_stream" };
  if (isSame && seen.lastSeq < known.lastSeq) return { kind: "shorter" };
  const hasNewConsumer = consumerNames(seen).some((each) => !known.consumers.includes(each));
  const gaps = seen.gaps.filter((position) => hasNewConsumer || position > known.consumedSeq);
  const consumedSeqs = seen.consumers.map(({ consumedSeq }) => consumedSeq);
  const lowest = consumedSeqs.length > 0 ? Math.min(...consumedSeqs) : 0;
  // A consumer with few events may acknowledge a low position late; it has consumed no less because of that.
  const consumedSeq = hasNewConsumer || lowest > known.consumedSeq ? lowest : known.consumedSeq;
  const isSettled = consumedSeqs.length > 0 && lowest === seen.lastSeq;
  return { kind: "whole", consumedSeq, isSettled, hasNewConsumer, gaps };
}

/** With creation time: a recreated consumer is a new one. */
export function consumerNames(seen: SeenStream): string[] {
  return seen.consumers.map(({ name, madeAt }) => `${name} ${madeAt}`);
}
