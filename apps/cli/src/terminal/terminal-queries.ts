/** Questions to a terminal: where the cursor is (DSR), what it is (DA), its colours (OSC 10 and 11). */
const ESCAPE = '\u001b';
const BELL = '\u0007';
const QUERY = new RegExp(
  `${ESCAPE}\\[\\??[56]n|${ESCAPE}\\[[>=]?0?c|${ESCAPE}\\]1[01];\\?(?:${BELL}|${ESCAPE}\\\\)`,
  'g',
);

/** Of output that is shown again: what it asked was answered then, and a second answer would be typed into the shell. */
export function withoutQueries(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(text.replaceAll(QUERY, ''), 'latin1');
}
