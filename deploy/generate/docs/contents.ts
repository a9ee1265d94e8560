// The table of contents of /docs, which is for merchants: which pages there are, in which order, and which file of the
// repository each is made of. Operators' and contributors' pages are not served; links to them become their names.

/** A page that is made of a Markdown file. */
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

/** The reference stands behind the first chapter. */
export const chapters: readonly Chapter[] = [
  {
    title: "Get started",
    guides: [
      guide(
        "docs/quickstart.md",
        "Quickstart",
        "From nothing to a paid and refunded order with verified webhooks, on your machine, in five minutes.",
      ),
      guide(
        "docs/checkout-page.md",
        "The buyer's side",
        "The hosted page and the SDK: what buyers see, and what it weighs.",
      ),
      guide(
        "gateway/web/sdk/README.md",
        "Browser SDK",
        "Card fields in your own page: embedding, options, events, errors, what your page's policy needs.",
        "browser-sdk",
      ),
      guide("docs/frameworks.md", "React, Vue, Svelte", "The card fields as a component, to copy."),
      guide(
        "docs/webhooks.md",
        "Webhooks",
        "Verify them in five languages, when they are sent again, and how they reach your own machine.",
      ),
      guide(
        "docs/console.md",
        "The console",
        "Payments, refunds, disputes, links, branding and the team, without code.",
      ),
      guide("docs/test-cards.md", "Test cards", "A number for every way in which a payment can end."),
      guide(
        "gateway/clients/node/README.md",
        "Library for Node",
        "Typed calls, safe repeats, pages, errors with classes, verified webhooks.",
        "node",
      ),
      guide(
        "gateway/clients/python/README.md",
        "Library for Python",
        "The same for Python 3.10 and newer, without another package.",
        "python",
      ),
    ],
  },
  {
    title: "What the API promises",
    guides: [
      guide("docs/contract.md", "The public contract", "Everything that the API promises, section by section."),
      guide(
        "docs/states.md",
        "States",
        "Payments, refunds, sessions, disputes, deliveries: every state and every move.",
      ),
      guide("docs/rate-limits.md", "Rate limits", "How much is answered, to whom, and what to do beyond it."),
      guide("docs/versions.md", "Versions", "What can change under a running integration, and what never does."),
      guide("CHANGELOG.md", "Changelog", "What each release brought."),
    ],
  },
];

/** Where links to files that are no page lead: a file or the beginning of a path, and the address. */
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
