// What a buyer quotes to the merchant: the order's number, else the beginning of the payment's id, which the session's
// id alone gives. The merchant finds it among payments, and where nothing was tried yet, among checkout sessions.

const shortIdLength = 18; // `pay_` and fourteen characters: the beginning that staff search by, and no two have alike

export function referenceOf({ id, reference }: { readonly id: string; readonly reference?: string }): string {
  return reference ?? `pay_${id.slice("cs_".length)}`.slice(0, shortIdLength);
}
