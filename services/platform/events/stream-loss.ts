// What a look at a service's stream says about its published events: that all are there, or which of them the broker
// has lost.

/** What the service remembers of its stream. */
export interface KnownStream {
  /** Empty: it has never seen one. */
  readonly stream: string;
  /** When the broker made it, in the broker's words: two streams of one name differ in this. */
  readonly madeAt: string;
  readonly consumers: readonly string[];
  /** The highest place in the stream that is known to be given. */
  readonly lastSeq: number;
  /** All consumers have taken in what they follow up to this place. */
  readonly consumedSeq: number;
}

/** What the broker says of it. */
export interface SeenStream {
  readonly stream: string;
  readonly madeAt: string;
  /** It was missing until now, and we have made it. */
  readonly isOurs: boolean;
  readonly lastSeq: number;
  /**
   * Places between the first and the last that hold nothing: nobody may delete an event, so its store has lost them.
   */
  readonly gaps: readonly number[];
  readonly consumers: readonly SeenConsumer[];
}

export interface SeenConsumer {
  readonly name: string;
  readonly madeAt: string;
  /** It has acknowledged everything it follows up to this place. */
  readonly consumedSeq: number;
}

/** How events were lost. */
export const lossKinds = ["another_stream", "shorter", "gaps"] as const;

export type Finding =
  | {
      readonly kind: "whole";
      readonly consumedSeq: number;
      /** Every event is taken in by everybody. */
      readonly isSettled: boolean;
      /** There is a consumer that has never been seen: what others have taken in is new to it. */
      readonly hasNewConsumer: boolean;
      /** Places without their event that somebody still needs; the rest of the stream is there. */
      readonly gaps: readonly number[];
    }
  | { readonly kind: "another_stream" }
  /** It ends before a place that it had given: a store that lost its end, or an older copy of it. */
  | { readonly kind: "shorter" };

/** @param known as it was remembered before the broker was asked */
export function judgeStream(known: KnownStream, seen: SeenStream): Finding {
  const isFirst = known.stream === "";
  const isSame = known.stream === seen.stream && known.madeAt === seen.madeAt;
  // One that stands when it is first seen is the one that events were sent to so far.
  if (isFirst ? seen.isOurs : !isSame) return { kind: "another_stream" };
  if (isSame && seen.lastSeq < known.lastSeq) return { kind: "shorter" };
  const hasNewConsumer = consumerNames(seen).some((each) => !known.consumers.includes(each));
  const gaps = seen.gaps.filter((position) => hasNewConsumer || position > known.consumedSeq);
  const consumedSeqs = seen.consumers.map(({ consumedSeq }) => consumedSeq);
  const lowest = consumedSeqs.length > 0 ? Math.min(...consumedSeqs) : 0;
  // A consumer of few events acknowledges a low place after others were long at the end: it took in nothing less for
  // that.
  const consumedSeq = hasNewConsumer || lowest > known.consumedSeq ? lowest : known.consumedSeq;
  const isSettled = consumedSeqs.length > 0 && lowest === seen.lastSeq;
  return { kind: "whole", consumedSeq, isSettled, hasNewConsumer, gaps };
}

/** As they are remembered: one that was deleted and made anew is another one. */
export function consumerNames(seen: SeenStream): string[] {
  return seen.consumers.map(({ name, madeAt }) => `${name} ${madeAt}`);
}
