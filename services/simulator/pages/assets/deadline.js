// Replaces AbortSignal.timeout, which the oldest supported browsers lack.

/** @param {number} ms @returns {AbortSignal} */
export function deadline(ms) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}
