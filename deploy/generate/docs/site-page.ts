// A page of /docs before it gets its frame.
import type { Html } from "../../../gateway/html.ts";

export interface SitePage {
  readonly address: string;
  readonly title: string;
  /** In the navigation; undefined: it is not in it. */
  readonly name?: string;
  /** One sentence, for search engines and lists. */
  readonly about: string;
  /** Behind the first heading, which is the title. */
  readonly body: Html;
  /** True: two columns, words and code. */
  readonly isReference?: true;
}
