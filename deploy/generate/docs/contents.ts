// The table of contents of /docs: which pages there are, in which order, and which file of the repository each is made
// of. A page that is not listed here is not served; links to it become the name of its file.

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
      guide("docs/rate-limits.md", "Rate limits", "How much is answered, to whom, and what to do beyond it."),
      guide("docs/versions.md", "Versions", "What can change under a running integration, and what never does."),
      guide("CHANGELOG.md", "Changelog", "What each release brought."),
    ],
  },
  {
    title: "Run it",
    guides: [
      guide("docs/processors.md", "Card processors", "Take real cards through Stripe in ten minutes."),
      guide("docs/production.md", "Production", "Run it on Kubernetes or in containers, update it, roll it back."),
      guide("docs/capacity.md", "Capacity", "What an order costs, and what 10, 100 and 1,000 a second need."),
      guide("docs/configuration.md", "Configuration", "Every setting of every process."),
      guide("docs/operate.md", "Operate", "What goes wrong, who notices, and who does what."),
      guide("docs/security.md", "Security", "What is promised at each boundary, with the test that proves it."),
      guide("docs/commands.md", "Commands", "Every command, for developers and for operators."),
    ],
  },
  {
    title: "How it is built",
    guides: [
      guide("docs/architecture.md", "Architecture", "What runs where, and the way of each request through the code."),
      guide(
        "docs/states.md",
        "States",
        "Payments, refunds, sessions, disputes, deliveries: every state and every move.",
      ),
      guide(
        "gateway/web/README.md",
        "The buyer's code",
        "The hosted page and the SDK from inside: surfaces, drivers, what the page promises.",
        "buyers-code",
      ),
      guide("docs/faults.md", "Faults", "In how many ways the world misbehaves, and which of them are drawn in tests."),
      guide("docs/proof.md", "Proof", "What was proved, how, and what was not."),
      guide("docs/performance.md", "Performance", "Rates, limits and what they cost."),
      guide("docs/internal-api.md", "Internal API", "Call the services from your own, over gRPC or Connect."),
      guide("docs/rpc/README.md", "Its services", "Each service and method of the internal API.", "rpc"),
      guide(
        "services/payments/connectors/README.md",
        "Add a connector",
        "How another card processor is added.",
        "connectors",
      ),
      guide("docs/glossary.md", "Glossary", "What a word means here."),
      guide("CONTRIBUTING.md", "Contributing", "How a change is made and proved."),
    ],
  },
];

/** Where links to files that are no page lead: a file or the beginning of a path, and the address. */
export const otherPlaces: readonly (readonly [path: string, address: string])[] = [
  ["README.md", "/docs"],
  ["gateway/docs/samples", "/docs/samples"],
];

/** Addresses of the reference. */
export const referenceAddress = "/docs/api";
export const errorsAddress = "/docs/api/errors";
export const eventsAddress = "/docs/api/events";
export const testCardsAddress = "/docs/test-cards";
export const samplesAddress = "/docs/samples";

function guide(source: string, name: string, about: string, place?: string): Guide {
  const own = source.split("/").at(-1)?.replace(/\.md$/, "").toLowerCase() ?? "";
  return { source, name, about, address: `/docs/${place ?? own}` };
}
