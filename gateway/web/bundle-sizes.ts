// Size limits of the browser files, in gzipped bytes; the test and the README use them.

export interface BundleSize {
  readonly what: string;
  /** Below gateway/web/dist; `{version}` is this release. */
  readonly files: string;
  readonly bytesMax: number;
}

export const bundleSizes: readonly BundleSize[] = [
  { what: "hosted page with script, style and QR code", files: "page/*", bytesMax: 26_000 },
  { what: "SDK with all surfaces", files: "js/{version}/checkout.js", bytesMax: 10_150 },
  { what: "SDK loader", files: "js/{version}/loader.mjs", bytesMax: 1_500 },
  { what: "`<tollbooth-checkout>`, without the loader", files: "js/{version}/element.mjs", bytesMax: 1_000 },
];
