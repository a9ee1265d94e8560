// A page of /docs without its frame.
import type { Html } from "../../../gateway/html.ts";

export interface SitePage {
  readonly address: string;
  readonly title: string;
  /** Name in the navigation; undefined: not listed. */
  readonly name?: string;
  /** One sentence, for search engines and lists. */
  readonly about: string;
  /** Follows the first heading, which is the title. */
  readonly body: Html;
  /** True: two columns, text and code. */
  readonly isReference?: true;
}
