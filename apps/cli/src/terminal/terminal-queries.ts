/** Terminal queries: cursor position (DSR), device attributes (DA), colors (OSC 10 and 11). */
const ESCAPE = '\u001b';
const BELL = '\u0007';
const QUERY = new RegExp(
  `${ESCAPE}\\[\\??[56]n|${ESCAPE}\\[[>=]?0?c|${ESCAPE}\\]1[01];\\?(?:${BELL}|${ESCAPE}\\\\)`,
  'g',
);

/**
 * Removes queries from replayed output: they were already answered, and another reply would be typed into the shell.
 */
export function withoutQueries(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(text.replaceAll(QUERY, ''), 'latin1');
}
