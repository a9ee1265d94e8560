// Lists: awaited, a list is its first page; iterated, it is every object of every page.
import type { Members } from "./members.ts";

/** How a list is read on: behind its last object, by its offset, or it is one page. */
export type Paging = "after" | "offset" | "none";

/** A page. */
export class Page<T> {
  readonly data: readonly T[];
  /** Whether further ones follow. */
  readonly has_more: boolean;
  /** All there are within the filters; undefined where that is not counted. */
  readonly total: number | undefined;
  readonly #next: List<T> | undefined;

  constructor(data: readonly T[], total: number | undefined, next: List<T> | undefined) {
    this.data = data;
    this.total = total;
    this.#next = next;
    this.has_more = next !== undefined;
  }

  /** The page that follows; undefined behind the last one. */
  async nextPage(): Promise<Page<T> | undefined> {
    return await this.#next;
  }
}

/** A list that is asked for when it is awaited or iterated. */
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

  /** Page after page. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let page: Page<T> | undefined = await this; page !== undefined; page = await page.nextPage()) yield page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/** The query of the page that follows; undefined behind the last one. Every step leads on, so that a loop ends. */
export function nextQuery(query: Members, body: Members, paging: Paging): Members | undefined {
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
