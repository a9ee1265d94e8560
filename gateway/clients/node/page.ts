// A list yields its first page when awaited, and every object of all pages when iterated.
import type { Members } from "./members.ts";

/** How to request the next page: by the last object's id, by offset, or there is only one page. */
export type Paging = "after" | "offset" | "none";

export class Page<T> {
  readonly data: readonly T[];
  /** Whether more objects follow. */
  readonly has_more: boolean;
  /** Number of objects that match the filters; undefined if the list does not count them. */
  readonly total: number | undefined;
  /** Where a list by `after_position` goes on: store it, and pass it next time. */
  readonly next_position: number | undefined;
  readonly #next: List<T> | undefined;

  constructor(data: readonly T[], { total, next_position: position }: Members, next: List<T> | undefined) {
    this.data = data;
    this.total = typeof total === "number" ? total : undefined;
    this.next_position = typeof position === "number" ? position : undefined;
    this.#next = next;
    this.has_more = next !== undefined;
  }

  /** Undefined after the last page. */
  async nextPage(): Promise<Page<T> | undefined> {
    return await this.#next;
  }
}

/** A list that is requested when it is awaited or iterated. */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #read: () => Promise<Page<T>>;

  constructor(read: () => Promise<Page<T>>) {
    this.#read = read;
  }

  // biome-ignore lint/suspicious/noThenProperty: `await tollbooth.payments.list()` is the first page
  then<A = Page<T>, B = never>(
    onPage?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#read().then(onPage, onError);
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let page: Page<T> | undefined = await this; page !== undefined; page = await page.nextPage()) yield page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/** Query of the next page; undefined after the last one. Each query advances, so iteration always ends. */
export function nextQuery(query: Members, body: Members, paging: Paging): Members | undefined {
  if (query.after_position !== undefined) {
    const position = body.next_position;
    const isMore = body.has_more === true && Number(position) > Number(query.after_position);
    return isMore ? { ...query, after_position: position } : undefined;
  }
  const data = Array.isArray(body.data) ? body.data : [];
  const last: unknown = data.at(-1);
  if (paging === "none" || typeof last !== "object" || last === null) return undefined;
  const { offset, ...filters } = query;
  if (paging === "after") {
    const id = "id" in last && typeof last.id === "string" ? last.id : undefined;
    const isMore = body.has_more === true && id !== undefined && id !== query.after;
    return isMore ? { ...filters, after: id } : undefined;
  }
  const next = body.next_cursor;
  const isMore = typeof next === "number" && next > (typeof offset === "number" ? offset : 0);
  return isMore ? { ...filters, offset: next } : undefined;
}
