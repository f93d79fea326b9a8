/**
 * Collects the garbage of startup once. V8 would do so only under load, and an idle platform would hold about 20 MB for
 * nothing until then. `svc` starts Node.js with `--expose-gc`.
 */
export function settleMemory(): void {
  // V8's most thorough collection: the usual one leaves about 25 MiB more for the first minutes.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
