// The table of contents of /docs, which serves merchants: the pages in order, each with its Markdown file. Links to
// pages of operators and contributors are shown as names.

export interface Guide {
  /** From the root of the repository. */
  readonly source: string;
  readonly address: string;
  /** In the navigation; the page's own heading is its title. */
  readonly name: string;
  /** One sentence, for lists and search engines. */
  readonly about: string;
}

export interface Chapter {
  readonly title: string;
  readonly guides: readonly Guide[];
}

/** The reference follows the first chapter. */
export const chapters: readonly Chapter[] = [
  {
    title: "Get started",
    guides: [
      guide(
        "docs/quickstart.md",
        "Quickstart",
        "A paid and refunded order with verified webhooks on your machine in five minutes.",
      ),
      guide("docs/checkout-page.md", "The buyer's side", "The hosted page and the SDK: screens, languages and size."),
      guide(
        "gateway/web/sdk/README.md",
        "Browser SDK",
        "Card fields in your own page: embedding, options, events, errors, content security policy.",
        "browser-sdk",
      ),
      guide("docs/frameworks.md", "React, Vue, Svelte", "The card fields as a component to copy."),
      guide(
        "docs/webhooks.md",
        "Webhooks",
        "Verification in five languages, duplicates, retries, and delivery to your own machine.",
      ),
      guide("docs/idempotency.md", "Idempotency", "Keys that make a request safe to repeat: how to choose them."),
      guide("docs/refunds.md", "Refunds", "How to refund, what happens then, and why a refund is refused."),
      guide("docs/reports.md", "Reports", "CSV files of payments, refunds, disputes and payouts: every column."),
      guide("docs/privacy.md", "Privacy", "Erase a buyer's personal data, or export it: what goes and what stays."),
      guide("docs/go-live.md", "Go live", "A checklist from the sandbox to real money; what Tollbooth does not have."),
      guide(
        "docs/console.md",
        "The console",
        "Payments, refunds, disputes, links, branding and the team, without code.",
      ),
      guide("docs/test-cards.md", "Test cards", "A number for every outcome of a payment."),
      guide(
        "gateway/clients/node/README.md",
        "Library for Node",
        "Typed calls, safe retries, pagination, errors with classes, verified webhooks.",
        "node",
      ),
      guide(
        "gateway/clients/python/README.md",
        "Library for Python",
        "The same for Python 3.10 and newer, without dependencies.",
        "python",
      ),
    ],
  },
  {
    title: "What the API promises",
    guides: [
      guide("docs/contract.md", "The public contract", "The API's guarantees, section by section."),
      guide(
        "docs/states.md",
        "States",
        "Payments, refunds, sessions, disputes, deliveries: what each status means and what changes it.",
      ),
      guide("docs/rate-limits.md", "Rate limits", "Limits per key, session and address, and how to handle 429."),
      guide("docs/versions.md", "Versions", "Changes that an integration must expect, and guarantees that stay."),
      guide("CHANGELOG.md", "Changelog", "Changes of each release."),
    ],
  },
];

/** Addresses of links to other files: a file or the beginning of a path, and the address. */
export const otherAddresses: readonly (readonly [path: string, address: string])[] = [
  ["README.md", "/docs"],
  ["gateway/docs/samples", "/docs/samples"],
];

/** Addresses of the reference. */
export const referenceAddress = "/docs/api";
export const errorsAddress = "/docs/api/errors";
export const eventsAddress = "/docs/api/events";
export const testCardsAddress = "/docs/test-cards";
export const samplesAddress = "/docs/samples";

function guide(source: string, name: string, about: string, slug?: string): Guide {
  const own = source.split("/").at(-1)?.replace(/\.md$/, "").toLowerCase() ?? "";
  return { source, name, about, address: `/docs/${slug ?? own}` };
}
