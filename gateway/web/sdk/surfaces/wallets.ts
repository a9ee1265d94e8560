// Buttons of wallets beside a processor's card fields: what the hosted page may put there. They ask to be paid as Enter
// in a field does, and what is then paid is what was pressed.

export interface ElementsOptions {
  readonly clientSecret: string;
  readonly locale: string;
  readonly appearance: unknown;
}

/**
 * Puts the buttons before the card fields.
 * @returns says which elements were pressed and are to be paid now; undefined: the card's
 */
export type Wallets = (
  stripe: { elements(options: ElementsOptions): unknown },
  options: ElementsOptions,
  fields: HTMLElement,
  port: { submitRequested(): void },
) => () => unknown;
