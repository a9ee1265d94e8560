// Where a browser is sent after it has signed in: a path of this console, whatever stood in the address.

const pathMax = 2_000;

/** The path, or `/` when it could lead anywhere else. */
export function localPath(text: string): string {
  // `//host` and `/\host` are other hosts to a browser; control characters are dropped before it looks.
  const isLocal = /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes("\\") && text.length <= pathMax;
  return isLocal ? text : "/";
}
