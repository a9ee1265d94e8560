// The most that a buyer's browser may have to load, in gzipped bytes: the one place that the test and the README read.

export interface BundleSize {
  readonly what: string;
  /** Under gateway/web/dist, `{version}` for this release. */
  readonly files: string;
  readonly bytesMax: number;
}

export const bundleSizes: readonly BundleSize[] = [
  { what: "hosted page, script, style and the code for another device", files: "page/*", bytesMax: 25_000 },
  { what: "SDK, every surface included", files: "js/{version}/checkout.js", bytesMax: 9_000 },
  { what: "SDK loader", files: "js/{version}/loader.mjs", bytesMax: 1_500 },
  { what: "`<tollbooth-checkout>`, in addition to the loader", files: "js/{version}/element.mjs", bytesMax: 1_000 },
];
